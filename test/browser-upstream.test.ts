import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { foreignProgram, hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, personAt } from './support/person.ts'
import { Installation, invoke, type Run } from './support/server.ts'

const playwright = foreignProgram('playwright-mcp')
const isHere = playwright !== null && hasProgram('bwrap') && hasProgram('chromium')

const policy = `
version: 1
rules:
  - { match: web.browser_navigate, when: 'args.url.endsWith("/admin")', tier: blocked, reason: No visits there }
  - { match: web.browser_navigate, tier: autonomous }
  - { match: web.browser_snapshot, tier: autonomous }
`

describe.skipIf(!isHere)('a browser behind the gate', () => {
  let gate: Installation
  let run: Run
  let person: Person
  let pages: Server
  let origin: string
  let token: string
  const visited: (string | undefined)[] = []

  beforeAll(async () => {
    pages = createServer((request, response) => {
      visited.push(request.url)
      response.setHeader('content-type', 'text/html')
      response.end('<button onclick="this.textContent = `sent`">Send the form</button>')
    }).listen(0, '127.0.0.1')
    await once(pages, 'listening')
    const host = `127.0.0.1:${(pages.address() as AddressInfo).port}`
    origin = `http://${host}`
    gate = new Installation()
    run = await gate.start(['--outbound-private-targets', host])
    person = personAt(gate)
    await person.api.saveOrganisationPolicy({ text: policy })
    ;({ token } = await gate.createAgent('surfer'))
    const installed = realpathSync(playwright?.file('') ?? '')
    await gate.json([
      ...['upstream', 'add', 'web', '--yes', '--host', host],
      ...['--folder', installed],
      // The only way out is the proxy of its sandbox; a browser would go past it to its own machine.
      ...[
        '--',
        '/bin/sh',
        '-c',
        'exec "$@" --proxy-server "$HTTP_PROXY" "--proxy-bypass=<-loopback>"',
      ],
      ...['sh', process.execPath, join(installed, '@playwright/mcp/cli.js'), '--headless'],
      ...['--isolated', '--no-sandbox', '--timeout-action', '60000'],
      ...['--executable-path', '/usr/lib/chromium/chromium'],
    ])
  })
  afterAll(async () => {
    await gate[Symbol.asyncDispose]()
    pages.closeAllConnections()
    pages.close()
  })

  const call = async (tool: string, args: object) => {
    const { result, error } = await invoke(run, token, `web.${tool}`, args)
    return JSON.stringify(result ?? error)
  }

  test('visits what policy allows, is refused what it blocks, and clicks once a person agrees', async () => {
    await call('browser_navigate', { url: `${origin}/form` })
    expect(visited).toContain('/form')
    const refused = await call('browser_navigate', { url: `${origin}/admin` })
    expect(refused).toContain('No visits there')
    expect(visited).not.toContain('/admin')

    const shown = await call('browser_snapshot', {})
    const target = /button \W*Send the form\W* \[ref=(\w+)\]/.exec(shown)?.[1]
    const answered = call('browser_click', { element: 'Send the form', target })
    const decided = person.approveNext('surfer')
    expect(await answered).toContain('pending_approval')
    const { id } = await decided
    expect(await invoke(run, token, 'approvals.wait', { approval_id: id })).toMatchObject({
      result: { success: true },
    })
    expect(await call('browser_snapshot', {})).toContain('sent')
    const { entries } = await person.api.queryAudit({ agent: 'surfer', capability: 'web.*' })
    const ended = entries.filter(({ result }) => result !== 'pending').toReversed()
    expect(ended.map(({ capability, result }) => `${capability} ${result}`)).toEqual([
      ...['web.browser_navigate success', 'web.browser_navigate denied'],
      ...['web.browser_snapshot success', 'web.browser_click success'],
      'web.browser_snapshot success',
    ])
  })

  test('shows a page outside what it was granted to nobody', async () => {
    const other = createServer((_request, response) => response.end('<p>private</p>'))
    await once(other.listen(0, '127.0.0.1'), 'listening')
    const { port } = other.address() as AddressInfo
    expect(await call('browser_navigate', { url: `http://127.0.0.1:${port}/` })).not.toContain(
      'private',
    )
    other.close()
  })
})
