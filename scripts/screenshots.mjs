// node scripts/screenshots.mjs [--out FOLDER] [page…]: pictures of the built dashboard, wide and on a
// phone, light and dark, with the data of real calls. They are for looking at.
// node scripts/screenshots.mjs --docs: the pictures of README and guides, made anew in docs/images.
import './lib/require-node.mjs'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { build } from './lib/build.mjs'
import { ensureInstalled } from './lib/install.mjs'
import { fill } from './screenshots/fill.mjs'
import { openServers } from './screenshots/servers.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string', default: '.cache/screenshots' },
    docs: { type: 'boolean', default: false },
  },
})

const sizes = {
  wide: { width: 1440, height: 900 },
  phone: { width: 390, height: 844 },
}

/** Pictures of the README and the guides. */
const inDocs = new Set([
  ...['overview-wide-light', 'approval-wide-light', 'approval-phone-dark'],
  ...['sessions-wide-light', 'map-wide-dark', 'policy-edit-wide-light'],
])

/** Pages by the name of their picture. */
const viewsWith = ({ request, session, entry }) => ({
  overview: '/overview?range=1h',
  approvals: '/approvals',
  approval: `/approvals/${request}`,
  decided: '/approvals?tab=decided',
  grants: '/approvals?tab=grants',
  activity: '/activity',
  agents: '/agents',
  agent: '/agents/docs-writer',
  sessions: `/agents/docs-writer?tab=sessions&session=${session}`,
  statistics: '/agents/docs-writer?tab=statistics',
  'agent-policy': '/agents/docs-writer?tab=policy',
  schedules: '/agents/docs-writer?tab=schedules',
  map: '/map',
  audit: '/audit',
  entry: `/audit/${entry}`,
  policy: '/policy',
  'policy-edit': '/policy?tab=edit',
  'policy-simulate': '/policy?tab=simulate&capability=filesystem.delete',
  'policy-replay': '/policy?tab=replay',
  services: '/services',
  writes: '/services?tab=writes',
  rollbacks: '/services?tab=rollbacks',
  state: '/state?agent=docs-writer',
  secrets: '/secrets',
  models: '/models',
  upstreams: '/upstreams',
  upstream: '/upstreams/notes',
  alerts: '/alerts',
  'alerts-handling': '/alerts?tab=handling',
  settings: '/settings',
  'settings-tokens': '/settings?tab=tokens',
  'settings-logins': '/settings?tab=logins',
  'settings-notifications': '/settings?tab=notifications',
  'settings-certificate': '/settings?tab=certificate',
  'settings-retention': '/settings?tab=retention',
  'settings-configuration': '/settings?tab=configuration',
  'settings-device': '/settings?tab=appearance',
  reference: '/reference',
})

const failed = (await ensureInstalled()) || (await build())
if (failed) {
  process.exitCode = failed
} else {
  const { openService } = await import('@gatehouse/server/main')
  const { createClient } = await import('@gatehouse/rest-client')
  const { chromium } = await import('playwright-core')
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-pictures-'))
  const ports = {
    'gateway-port': '0',
    'user-api-port': '0',
    'dashboard-port': '0',
    'wake-port': '0',
  }
  const service = await openService({
    'data-dir': folder,
    ...ports,
    'no-first-agent': true,
    'log-level': 'silent',
    'proxy-delays': 'mail.send=1h,mail.move=0s',
  })
  const token = readFileSync(path.join(folder, 'cli-token'), 'utf8').trim()
  const api = createClient({ baseUrl: service.run.user_api_url, token })
  const { call, ...shown } = await fill(service.run, api)
  const closeServers = await openServers(api, call)
  const password = 'a long password for pictures'
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--disable-background-networking',
      '--ignore-certificate-errors',
    ],
  })
  const out = values.docs ? 'docs/images' : values.out
  mkdirSync(out, { recursive: true })
  const isWanted = (name) => positionals.length === 0 || positionals.includes(name)
  const wanted = Object.entries(viewsWith(shown)).filter(([name]) => isWanted(name))
  let made = 0
  const take = async (page, view, size, colorScheme) => {
    const name = `${view}-${size}-${colorScheme}`
    if (values.docs ? !inDocs.has(name) : !isWanted(view)) return
    const file = path.join(out, `${name}.png`)
    await page.screenshot({ path: file, fullPage: size === 'phone' && !values.docs })
    made += 1
  }
  const contexts = Object.entries(sizes).flatMap(([size, viewport]) =>
    /** @type {const} */ (['light', 'dark']).map((colorScheme) => ({
      size,
      viewport,
      colorScheme,
    })),
  )
  // The link works as long as nobody has used it.
  const { token: setup } = await api.createSetupLink()
  for (const { size, viewport, colorScheme } of contexts) {
    if (values.docs || !isWanted('setup')) break
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport, colorScheme })
    const page = await context.newPage()
    await page.goto(`${service.run.dashboard_url}/#setup=${setup}`)
    await page.getByLabel('Password again').waitFor()
    await take(page, 'setup', size, colorScheme)
    await context.close()
  }
  await api.setPassword({ name: 'ana', password })
  for (const { size, viewport, colorScheme } of contexts) {
    const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport, colorScheme })
    const page = await context.newPage()
    page.on('console', (message) => message.type() === 'error' && console.error(message.text()))
    await page.goto(service.run.dashboard_url)
    await page.locator('input[name=password]').waitFor()
    await take(page, 'login', size, colorScheme)
    await page.locator('input[name=password]').fill(password)
    await page.locator('input[name=password]').press('Enter')
    await page.locator('#content h1').waitFor()
    for (const [view, address] of wanted) {
      if (values.docs && !inDocs.has(`${view}-${size}-${colorScheme}`)) continue
      await page.goto(`${service.run.dashboard_url}${address}`)
      await page.locator('#content h1').waitFor()
      // The streams stay open, so the network never falls idle; what loads says so.
      await page.waitForFunction(
        () =>
          !/^(Loading|Checking)…$/m.test(globalThis.document.querySelector('#content').innerText),
      )
      await page.waitForTimeout(250)
      await take(page, view, size, colorScheme)
    }
    await context.close()
  }
  await browser.close()
  await service[Symbol.asyncDispose]()
  await closeServers()
  rmSync(folder, { recursive: true, force: true })
  console.log(`${made} pictures in ${out}`)
}
