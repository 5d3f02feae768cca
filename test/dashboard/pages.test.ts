import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Dashboard, hasEnd, password } from '../support/dashboard.ts'
import { Installation, invoke } from '../support/server.ts'

/** Every page and every tab that has an address of its own. */
const views = [
  '/overview',
  '/approvals?tab=decided',
  '/activity',
  '/agents',
  '/agents/mailbot',
  '/agents/mailbot?tab=sessions',
  '/agents/mailbot?tab=statistics',
  '/agents/mailbot?tab=schedules',
  '/map',
  '/audit',
  '/policy',
  '/policy?tab=simulate',
  '/agents/mailbot?tab=policy',
  '/policy?tab=replay',
  '/services',
  '/services?tab=writes',
  '/services?tab=rollbacks',
  '/upstreams',
  '/state?agent=mailbot',
  '/secrets',
  '/models',
  '/alerts',
  '/alerts?tab=handling',
  '/settings',
  '/settings?tab=tokens',
  '/settings?tab=logins',
  '/settings?tab=notifications',
  '/settings?tab=certificate',
  '/settings?tab=retention',
  '/settings?tab=configuration',
  '/settings?tab=appearance',
  '/reference',
  '/no/such/page',
]

describe.skipIf(!hasProgram('chromium'))('pages of the dashboard', () => {
  let dashboard: Dashboard
  let token = ''

  beforeAll(async () => {
    dashboard = await Dashboard.openAs('ana', [], (dataDir) =>
      writeFileSync(
        join(dataDir, 'gatehouse.yaml'),
        'notifications:\n  - { name: phone, kind: webhook, url: "https://127.0.0.1:9/", events: [alert.raised] }\n',
      ),
    )
  })
  afterAll(() => dashboard?.[Symbol.asyncDispose]())

  test('lead from nothing to the first call of a first agent', async () => {
    const { page } = dashboard
    await dashboard.goTo('/')
    await page.getByRole('heading', { name: 'Waiting for your first agent' }).waitFor()
    await page.getByRole('button', { name: 'Create an agent' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Mail Bot')
    await dialog.getByRole('button', { name: 'Create an agent' }).click()
    await dialog.getByRole('alert').first().waitFor()
    await dialog.getByLabel('Name').fill('mailbot')
    await dialog.getByLabel('Purpose').fill('Sorts the post')
    await dialog.getByRole('button', { name: 'Create an agent' }).click()
    const shown = page.getByRole('dialog', { name: 'The token of mailbot' })
    token = (await shown.locator('pre').first().innerText()).trim()
    // What it says to paste leads to this service, whatever its ports are.
    await shown.getByText(`${dashboard.run.gateway_url}/mcp`, { exact: true }).waitFor()
    expect(await dashboard.axeFindings()).toEqual([])
    const made = await invoke(dashboard.run, token, 'filesystem.write', {
      path: 'notes.txt',
      content: 'kept',
    })
    expect(made.result?.success).toBe(true)
    await shown.getByText('It has made its first call.').waitFor()
    await shown.getByRole('button', { name: 'Done' }).click()
    await page.getByText('filesystem.write').first().waitFor()
    await page
      .getByRole('heading', { name: 'Waiting for your first agent' })
      .waitFor({ state: 'detached' })
  })

  test.each(views)(
    '%s has no finding of axe in either theme and is whole on a phone',
    async (view) => {
      await dashboard.follow(view)
      await dashboard.loaded()
      expect(await dashboard.axeFindings()).toEqual([])
      expect(await dashboard.overhang()).toBe(0)
    },
  )

  test('ask the service for nothing while nothing happens, however long they stay open', async () => {
    const { context, page } = await dashboard.another()
    await context.addCookies(await dashboard.page.context().cookies())
    const asked: string[] = []
    page.on('request', (request) => {
      const url = request.url()
      if (url.includes('/api/') && hasEnd(request)) asked.push(url)
    })
    // Plots of a day move on every 24 minutes: the time begins with such a step.
    const stepMs = 24 * 60_000
    await page.clock.install({ time: Math.floor(Date.now() / stepMs) * stepMs })
    for (const view of ['/overview', '/models', '/services', '/activity', '/audit', '/approvals']) {
      await page.goto(`${dashboard.run.dashboard_url}${view}`)
      await page.getByText('Live', { exact: true }).waitFor()
      await dashboard.loaded(page)
      // What a page reads once more after it has begun to listen.
      await page.clock.runFor(5_000)
      await dashboard.loaded(page)
      asked.length = 0
      await page.clock.runFor(5 * 60_000)
      await dashboard.loaded(page)
      expect(asked).toEqual([])
    }
    await context.close()
  })

  test('show what happens as it happens, and hold it back while paused', async () => {
    const { page } = dashboard
    await dashboard.goTo('/activity')
    await page.getByText('Live', { exact: true }).waitFor()
    await invoke(dashboard.run, token, 'filesystem.read', { path: 'notes.txt' })
    await page.getByRole('listitem').filter({ hasText: 'filesystem.read' }).first().waitFor()
    await page.getByRole('button', { name: 'Pause the stream' }).click()
    await invoke(dashboard.run, token, 'filesystem.list', { path: '.' })
    await page.getByText('1 new event waits').waitFor()
    expect(await page.getByRole('listitem').filter({ hasText: 'filesystem.list' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByRole('listitem').filter({ hasText: 'filesystem.list' }).first().click()
    await page.getByRole('heading', { name: 'filesystem.list' }).waitFor()
    expect(await dashboard.axeFindings()).toEqual([])
    await page.goBack()
    await page.getByRole('heading', { name: 'Activity' }).waitFor()
  })

  test('draw calls over time as they happen, and give the same numbers as a table', async () => {
    const { page } = dashboard
    await dashboard.goTo('/overview')
    const plot = page.getByRole('figure').filter({ hasText: 'Calls' }).first()
    await plot.locator('canvas').waitFor()
    const callsOf = async (): Promise<number> =>
      Number.parseInt(await plot.getByText(/^\d+ calls?$/).innerText(), 10)
    const before = await callsOf()
    await invoke(dashboard.run, token, 'filesystem.read', { path: 'missing.txt' })
    await expect.poll(callsOf).toBe(before + 1)
    await page.getByText('7 d', { exact: true }).click()
    await page.waitForURL(/\?range=7d$/)
    await page.getByRole('button', { name: 'As a table: Denied and failed' }).click()
    const rows = page.getByRole('region', { name: 'Table: Denied and failed' }).getByRole('row')
    await rows.nth(1).waitFor()
    expect(await rows.nth(1).getByRole('cell').allInnerTexts()).toEqual(['0', '1'])
    expect(await dashboard.axeFindings()).toEqual([])
    // Beside the components there is little room for what just happened.
    await page.setViewportSize({ width: 1100, height: 900 })
    const event = page.locator('#content a[href^="/audit/"]').filter({ hasText: 'filesystem.read' })
    const line = await event.first().getByText('filesystem.read', { exact: true }).boundingBox()
    expect(line?.height ?? 100).toBeLessThan(30)
    await page.setViewportSize({ width: 390, height: 844 })
    await expect
      .poll(async () => (await plot.locator('canvas').boundingBox())?.width ?? 390)
      .toBeLessThan(340)
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  test('pause, change and revoke an agent, and name what they did in the audit log', async () => {
    const { page, api } = dashboard
    await dashboard.goTo('/agents/mailbot')
    const actions = page.getByRole('button', { name: 'Actions for mailbot' })
    await actions.click()
    await page.getByRole('menuitem', { name: 'Pause' }).click()
    await page.getByText('Paused', { exact: true }).waitFor()
    const refused = await invoke(dashboard.run, token, 'filesystem.list', { path: '.' })
    expect(refused.error?.message).toMatch(/paused/i)
    await page.getByRole('button', { name: /^Undo: mailbot is paused/ }).click()
    await page.getByText('Active', { exact: true }).waitFor()
    await page.getByText('Undone.').waitFor()
    // Not before: it can be undone for twenty seconds.
    await api.pauseAgent({ name: 'mailbot' })
    await page.getByText('Paused', { exact: true }).waitFor()
    expect(await dashboard.axeFindings()).toEqual([])
    await api.resumeAgent({ name: 'mailbot' })
    await page.getByText('Active', { exact: true }).waitFor()
    await actions.click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await page.getByLabel('Allowed tools').fill('filesystem.*\nstate.*')
    await page.getByLabel('Own limits').fill('state.set=5/1m')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('mailbot is saved.').waitFor()
    expect(await api.showAgent({ name: 'mailbot' })).toMatchObject({
      tools: ['filesystem.*', 'state.*'],
      limits: [{ match: 'state.set', limit: 5, window: '1m' }],
    })
    await dashboard.goTo('/audit?capability=agent.*')
    await page.getByRole('link', { name: 'agent.edited' }).first().click()
    await page.getByText('ana', { exact: true }).first().waitFor()
  })

  test('lead from an entry to its intent and back, and say rule by rule how policy decides it', async () => {
    const { page, api } = dashboard
    const { entries } = await api.queryAudit({ capability: 'filesystem.write', result: 'success' })
    const [entry] = entries
    await dashboard.goTo('/audit?capability=filesystem.write')
    await page.getByLabel('Policy').selectOption('blocked')
    await page.getByText('No entry matches').waitFor()
    await page.getByLabel('Policy').selectOption('autonomous')
    await page.waitForURL(/decision=autonomous/)
    await page.locator(`a[href="/audit/${entry?.id}"]`).click()
    await page.getByRole('button', { name: 'Evaluate it' }).click()
    await page
      .getByText(/^system\.yaml:\d+ filesystem\.write$/)
      .first()
      .waitFor()
    expect(await dashboard.axeFindings()).toEqual([])
    const linkOf = (fact: string) =>
      page.locator('dl > div', { has: page.getByText(fact, { exact: true }) }).getByRole('link')
    await linkOf('Intent').click()
    await linkOf('Outcome').click()
    await page.waitForURL(`**/audit/${entry?.id}`)
    await linkOf('Previous entry').click()
    await page.getByText(String((entry?.seq ?? 0) - 1), { exact: true }).waitFor()
    await dashboard.goTo('/audit?session=sess-1')
    await page.getByRole('button', { name: 'All sessions' }).click()
    await expect.poll(() => page.url()).not.toContain('session=')
  })

  test('keep the order of a table in the address, and Back leads to the tab before', async () => {
    const { page } = dashboard
    const isSorted = () =>
      page.getByRole('columnheader', { name: 'Setting' }).getAttribute('aria-sort')
    await dashboard.goTo('/settings?tab=configuration')
    await page.getByRole('button', { name: 'Setting' }).click()
    await page.waitForURL(/sort=-key/)
    await page.reload()
    await expect.poll(isSorted).toBe('descending')
    await page.getByRole('tab', { name: 'Retention' }).click()
    await page.waitForURL(/\?tab=retention$/)
    await page.goBack()
    await expect.poll(isSorted).toBe('descending')
  })

  test('fold filters on a phone, and say how many are set', async () => {
    const { page } = dashboard
    const field = page.getByLabel('Result')
    await page.setViewportSize({ width: 390, height: 844 })
    await dashboard.goTo('/audit')
    const first = page.getByRole('listitem').first()
    await first.waitFor()
    expect((await first.boundingBox())?.y).toBeLessThan(844 / 2)
    expect(await field.isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    await field.selectOption('denied')
    const button = page.getByRole('button', { name: 'Filters: 1 set' })
    await button.waitFor()
    expect(await dashboard.axeFindings()).toEqual([])
    await button.click()
    expect(await field.isVisible()).toBe(false)
    await page.setViewportSize({ width: 1280, height: 900 })
    await field.waitFor()
    expect(await button.isVisible()).toBe(false)
  })

  test('tell times from now, here or in UTC, without a mouse', async () => {
    const { page } = dashboard
    await dashboard.goTo('/agents')
    const made = page.getByRole('row').filter({ hasText: 'mailbot' }).locator('time').last()
    const forms = [/now|ago/, /^[A-Z][a-z]{2} \d+, \d\d:\d\d:\d\d$/, /^[A-Z].* \d\d:\d\d:\d\dZ$/]
    for (const form of [...forms, ...forms.slice(0, 1)]) {
      await expect.poll(() => made.innerText()).toMatch(form)
      await page.keyboard.press('t')
    }
    await page.keyboard.press('t')
    await page.keyboard.press('t')
  })

  test('tell both exact times of the row or the time that has the focus, with as few stops as before', async () => {
    const { page } = dashboard
    const tip = page.getByRole('tooltip')
    const both = /^Token made: [A-Z].* (AM|PM) \S+ · \d{4}-\d\d-\d\dT[\d:.]+Z$/m
    await dashboard.goTo('/agents')
    await page.getByRole('link', { name: 'mailbot' }).waitFor()
    await page.locator('#content').focus()
    while (!(await tip.isVisible())) await page.keyboard.press('Tab')
    const inRow = `document.activeElement.closest('tr')?.dataset.row`
    expect(await page.evaluate<string>(inRow)).toBe('mailbot')
    expect(await tip.innerText()).toMatch(both)
    expect(await dashboard.axeFindings()).toEqual([])
    await page.keyboard.press('Escape')
    await tip.waitFor({ state: 'detached' })
    expect(await page.locator('tr time[tabindex="0"]').count()).toBe(0)
    await dashboard.goTo('/audit')
    await page.getByRole('listitem').first().waitFor()
    expect(await page.locator('[role=listitem] time[tabindex="0"]').count()).toBe(0)
    await page.keyboard.press('j')
    await tip.waitFor()
    // Among facts a time is a stop of its own, and a finger puts the focus on it.
    await dashboard.goTo('/agents/mailbot')
    await page.locator('dd time').last().click()
    expect(await tip.innerText()).toMatch(/^Token made: .*Z$/)
    await page.keyboard.press('Shift+Tab')
    await expect.poll(() => tip.innerText()).not.toMatch(/^Token made/)
  })

  test('keep a secret whose value is nowhere on the page, and say who may use it', async () => {
    const { page } = dashboard
    const value = 'a value that nobody sees'
    await dashboard.goTo('/secrets')
    await page.getByRole('button', { name: 'Add a secret' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('post-token')
    await dialog.getByLabel('Value').fill(value)
    await dialog.getByLabel('Capabilities that may use it').fill('network.credentialed_request')
    await dialog.getByLabel('Hosts it may go to').fill('api.example.org')
    await dialog.getByLabel('Agents that may use it').fill('mailbot')
    await dialog.getByRole('button', { name: 'Add a secret' }).click()
    await page.getByText('post-token is kept.').waitFor()
    expect(await page.content()).not.toContain(value)
    await page.getByRole('button', { name: 'Actions: post-token' }).click()
    const letThrough = await dashboard.heldBack('**/api/agents*')
    await page.getByRole('menuitem', { name: 'May it be used?' }).click()
    await page.getByLabel('At the host (empty for none)').fill('evil.example')
    const check = page.getByRole('button', { name: 'Check' })
    // Nothing is asked before it is known for which agent.
    expect(await check.isDisabled()).toBe(true)
    await letThrough()
    await check.click()
    await page.getByText('No:').waitFor()
    expect(await dashboard.axeFindings()).toEqual([])
  })

  test('make a token for hooks in the name of the agent that is chosen', async () => {
    const { page, api } = dashboard
    await dashboard.goTo('/settings?tab=tokens')
    await page.getByRole('button', { name: 'Create a user token' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Label').fill('of the editor')
    await dialog.getByLabel('Role').selectOption('hook')
    await expect.poll(() => dialog.getByLabel('For the agent').inputValue()).toBe('mailbot')
    await dialog.getByRole('button', { name: 'Create a user token' }).click()
    await page.getByText('This token is shown here and never again.').waitFor()
    const made = { label: 'of the editor', role: 'hook', agent: 'mailbot' }
    expect((await api.listUserTokens()).user_tokens[0]).toMatchObject(made)
  })

  test('mute what an agent warns of, say so beside it, and choose where a kind is sent', async () => {
    const { page, api } = dashboard
    const { token: other } = await api.createAgent({ name: 'warner' })
    await invoke(dashboard.run, other, 'alerts.send', {
      severity: 'warning',
      message: 'Full again',
    })
    await dashboard.goTo('/alerts')
    const card = page.getByRole('listitem').filter({ hasText: 'Full again' })
    await card.getByRole('button', { name: 'Mute…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Mute alerts: warner' })
    await dialog.getByLabel('For').selectOption('86400')
    await dialog.getByLabel('Reason').fill('It is being mended')
    await dialog.getByRole('button', { name: 'Mute', exact: true }).click()
    await card.getByText('Muted', { exact: true }).waitFor()
    const { mutes } = await api.showAlertHandling()
    expect(mutes).toMatchObject([{ kind: 'agent', agent: 'warner', reason: 'It is being mended' }])
    const hours = (Date.parse(mutes[0]?.until ?? '') - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(23)
    await page.getByRole('tab', { name: 'Muting and routing' }).click()
    expect(await dashboard.axeFindings()).toEqual([])
    await page.getByRole('button', { name: 'Where alerts go: disk' }).click()
    await page.getByLabel('Goes to').selectOption('some')
    await page.getByText('nobody is notified of this kind').waitFor()
    await page.getByLabel('phone (webhook)').check()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('row').filter({ hasText: 'Disk' }).getByText('phone').waitFor()
    expect((await api.showAlertHandling()).routes).toEqual([{ kind: 'disk', targets: ['phone'] }])
    await page.getByRole('tab', { name: 'Alerts' }).click()
    await page.getByLabel('Severity').selectOption('critical')
    await page.getByText('No alerts here').waitFor()
    await page.getByLabel('Severity').selectOption('warning')
    await page.getByLabel('Time').selectOption('1h')
    await card.waitFor()
    await page.waitForURL(/severity=warning&range=1h/)
    await page.getByRole('tab', { name: 'Muting and routing' }).click()
    await page.getByRole('button', { name: 'Unmute: warner' }).click()
    await page.getByText('No alerts are muted.').waitFor()
    expect((await api.showAlertHandling()).mutes).toEqual([])
  })

  test('show a value that an agent keeps, and delete it after its key was typed', async () => {
    await invoke(dashboard.run, token, 'state.set', { key: 'last', value: { seen: 12 } })
    const { page } = dashboard
    await dashboard.goTo('/state?agent=mailbot')
    await page.getByRole('button', { name: 'View' }).click()
    await page.getByText('"seen": 12').waitFor()
    await page.getByText(/^1 key, \d+ B of 105 MB$/).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Delete' }).click()
    const submit = page.getByRole('dialog').getByRole('button', { name: 'Delete' })
    expect(await submit.isDisabled()).toBe(true)
    await page.getByLabel('Type last to confirm').fill('last')
    await submit.click()
    await page.getByText('No values here').waitFor()
    expect((await dashboard.api.listState({ agent: 'mailbot' })).keys).toEqual([])
  })

  test('end the login of another browser, and add a person who can log in', async () => {
    const { page, run } = dashboard
    const other = await dashboard.another()
    await other.page.goto(run.dashboard_url)
    await other.page.getByLabel('Password', { exact: true }).fill(password)
    await other.page.getByRole('button', { name: 'Log in' }).click()
    await other.page.getByRole('navigation', { name: 'Pages' }).waitFor()
    await dashboard.goTo('/settings?tab=logins')
    const row = page.getByRole('row').filter({ hasNotText: 'This one' }).last()
    await row.getByRole('button', { name: 'End: ana' }).click()
    await page.getByText('The login has ended.').waitFor()
    await other.page.getByRole('dialog', { name: 'Your login has ended' }).waitFor()
    await other.context.close()
    await dashboard.goTo('/settings')
    await page.getByRole('button', { name: 'Add a person' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('ben')
    await dialog.getByLabel('Your current password').fill(password)
    await dialog.getByLabel('New password').fill('another horse battery')
    await dialog.getByRole('button', { name: 'Add a person' }).click()
    await page.getByText('ben can log in now.').waitFor()
    const { operators } = await dashboard.api.listOperators()
    expect(operators.map(({ name }) => name)).toEqual(['ana', 'ben'])
  })

  test('name the certificate that browsers see, give its authority, and say how long entries are kept', async () => {
    const { page, run, gate } = dashboard
    await dashboard.goTo('/settings?tab=certificate')
    const { hostname, port } = new URL(run.dashboard_url)
    const ca = readFileSync(join(gate.dataDir, 'tls', 'ca.pem'), 'utf8')
    const socket = connect({ host: hostname, port: Number(port), ca })
    await once(socket, 'secureConnect')
    await page.getByText(socket.getPeerCertificate().fingerprint256).waitFor()
    socket.destroy()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download the authority (PEM)' }).click()
    const saved = readFileSync(await (await download).path(), 'utf8')
    expect(saved.trim()).toBe(ca.trim())
    await page.getByRole('tab', { name: 'Retention' }).click()
    await page.getByText(/^whatever their age/).waitFor()
    await page.getByText('(Default)').first().waitFor()
    expect(await page.getByRole('tab', { name: 'Nodes' }).count()).toBe(0)
  })

  test('make a backup that only its passphrase opens', async () => {
    const { page } = dashboard
    await dashboard.goTo('/settings?tab=configuration')
    await page.getByRole('button', { name: 'Back up now…' }).click()
    const dialog = page.getByRole('dialog')
    const submit = dialog.getByRole('button', { name: 'Make the backup' })
    await dialog.getByLabel('Passphrase of the backup').fill(password)
    await dialog.getByLabel('Passphrase again').fill('another one')
    await dialog.getByText('The two differ.').waitFor()
    expect(await submit.isDisabled()).toBe(true)
    await dialog.getByLabel('Passphrase again').fill(password)
    const download = page.waitForEvent('download')
    await submit.click()
    const file = await (await download).path()
    await using other = new Installation()
    const restore = (secret: string) => other.cli(['restore', file, '--yes'], `${secret}\n`)
    expect((await restore('another horse battery')).code).toBe(1)
    const restored = await restore(password)
    expect(restored.code, restored.stderr).toBe(0)
    expect(restored.stdout).toContain('The log is verified.')
  })

  test('ask nobody but their own service, and nothing on them goes wrong', () => {
    const elsewhere = dashboard.requests.filter(
      (url) =>
        !url.startsWith(`${dashboard.run.dashboard_url}/`) &&
        !url.startsWith('blob:') &&
        url !== 'about:blank',
    )
    expect(elsewhere).toEqual([])
    // Refusals are part of the tests; a browser reports them as failed loads.
    const wrong = dashboard.complaints.filter((text) => !text.startsWith('Failed to load resource'))
    expect(wrong).toEqual([])
  })
})
