import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Dashboard } from '../support/dashboard.ts'
import { invoke, rpc } from '../support/server.ts'

const program = realpathSync(
  new URL('../../packages/server/test/upstream/scripted-server.mjs', import.meta.url).pathname,
)

const canRun = hasProgram('chromium') && hasProgram('bwrap')

describe.skipIf(!canRun)('MCP servers in the dashboard', () => {
  let dashboard: Dashboard
  let folder: string
  let token = ''

  /** What the server says from now on. */
  const say = (description: string, more: readonly object[] = [], facts: object = {}) =>
    writeFileSync(
      join(folder, 'script.json'),
      JSON.stringify({
        tools: [
          {
            name: 'say',
            description,
            inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
          },
          ...more,
        ],
        ...facts,
      }),
    )

  beforeAll(async () => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-page-')))
    // The sandbox of a service that is root runs servers as another user.
    chmodSync(folder, 0o755)
    say('Says the text')
    dashboard = await Dashboard.openAs('ana')
    token = (await dashboard.api.createAgent({ name: 'mailbot' })).token
  })
  afterAll(async () => {
    await dashboard?.[Symbol.asyncDispose]()
    rmSync(folder, { recursive: true, force: true })
  })

  const assertClean = async () => {
    expect(await dashboard.axeFindings()).toEqual([])
    expect(await dashboard.overhang()).toBe(0)
  }

  test('a server is looked at before it is stored, and its tool is offered once it was accepted', async () => {
    const { page } = dashboard
    await dashboard.goTo('/upstreams')
    await assertClean()
    await page.getByRole('button', { name: 'Add a server' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).first().fill('echo')
    await dialog.getByLabel('Program', { exact: true }).fill(process.execPath)
    await dialog.getByLabel('Arguments of the program').fill(`${program}\n${folder}/script.json`)
    await dialog.getByLabel('Folders').fill(`${join(program, '..')}\n${folder}`)
    await dialog.getByRole('button', { name: 'Connect and inspect' }).click()
    await dialog.getByText('Says the text').waitFor()
    expect((await dashboard.api.listUpstreams()).upstreams).toEqual([])
    expect(await dashboard.axeFindings()).toEqual([])
    await dialog.getByRole('button', { name: 'Add the server' }).click()
    await page.getByRole('link', { name: 'echo' }).click()
    await page.getByRole('heading', { name: 'echo', exact: true }).waitFor()
    const before = await invoke(dashboard.run, token, 'echo.say', { text: 'hello' })
    expect(before.error?.data?.['approval_id']).toBeUndefined()
    await page.getByRole('button', { name: 'Accept: say' }).click()
    await page.getByText('say: accepted.').waitFor()
    await assertClean()
    const held = await invoke(dashboard.run, token, 'echo.say', { text: 'hello' })
    expect(held.error?.data?.['approval_id']).toMatch(/^appr-/)
  })

  test('a changed tool is out of service until its difference was seen and accepted', async () => {
    const { page, api } = dashboard
    say('Says the text, and sends it elsewhere')
    await dashboard.goTo('/upstreams/echo')
    await page.getByRole('button', { name: 'Check again' }).click()
    const tool = page.locator('[data-tool="say"]')
    await tool.getByText('Changed', { exact: true }).waitFor()
    const difference = tool.getByRole('group', { name: 'Difference' })
    expect(await difference.innerText()).toMatch(
      /^-.*Says the text"[\s\S]*^\+.*and sends it elsewhere/m,
    )
    await assertClean()
    const listed = async () =>
      JSON.stringify(await rpc(dashboard.run, token, 'capabilities.list', { category: 'echo' }))
    expect(await listed()).not.toContain('echo.say')
    // What is out of service for want of a person is on the first page.
    await dashboard.goTo('/overview')
    await page.getByText('MCP servers are degraded: echo: 1 accepted tool').waitFor()
    await page.getByRole('link', { name: 'An MCP server waits for a review or a login' }).click()
    // Until that page is there, entries on this one have the same name.
    await page.getByRole('heading', { level: 1, name: 'MCP servers' }).waitFor()
    await page.getByRole('link', { name: 'echo' }).click()
    await tool.getByRole('button', { name: 'Decline: say' }).click()
    await tool.getByText('Declined', { exact: true }).waitFor()
    // Nobody is asked any more, also after another look at the server, and no agent is offered it.
    await page.getByRole('button', { name: 'Check again' }).click()
    await page.getByText('Connected and compared.').last().waitFor()
    expect((await api.showUpstream({ name: 'echo' })).upstream).toMatchObject({
      ...{ status: 'ready', offered: 0, waiting: 0, declined: 1 },
    })
    expect(await listed()).not.toContain('echo.say')
    expect(await difference.innerText()).toContain('and sends it elsewhere')
    await assertClean()
    await tool.getByRole('button', { name: 'Accept' }).click()
    await tool.getByText('Offered', { exact: true }).waitFor()
    expect(await listed()).toContain('echo.say')
    expect((await api.showUpstream({ name: 'echo' })).upstream).toMatchObject({
      offered: 1,
      waiting: 0,
    })
  })

  test('a question in the middle of a call is answered on the page, and by nobody else', async () => {
    const { page, api, run } = dashboard
    const asking = { name: 'ask', description: 'Asks first', inputSchema: { type: 'object' } }
    const question = {
      message: 'Where to?\u202e <b>now</b>',
      requestedSchema: {
        type: 'object',
        properties: {
          branch: { type: 'string', title: 'Branch', maxLength: 20 },
          depth: { type: 'integer', minimum: 1 },
          colour: { type: 'string', enum: ['red', 'blue'] },
          password: { type: 'string' },
        },
        required: ['branch'],
      },
    }
    say('Says the text, and sends it elsewhere', [asking], { ask: question })
    await api.refreshUpstream({ name: 'echo' })
    const { digest } = await api.showUpstream({ name: 'echo' })
    await api.acceptUpstream({ name: 'echo', digest })
    const held = await invoke(run, token, 'echo.ask', {})
    const id = String(held.error?.data?.['approval_id'])
    await api.approveApproval({ id })
    await dashboard.goTo('/approvals')
    const asked = page.getByRole('article', { name: 'echo asks' })
    await asked.waitFor()
    await expect.poll(() => page.title()).toMatch(/^\(2\) /)
    expect(await asked.innerText()).toContain('<b>now</b>')
    // One count of what waits, in the title, the menu and the overview.
    const menu = page.getByRole('navigation', { name: 'Pages' })
    expect(await menu.getByRole('link', { name: /^Approvals/ }).innerText()).toMatch(/\b2$/)
    await menu.getByRole('link', { name: 'Overview' }).click()
    await page.getByRole('link', { name: /^2\s+Waiting for a person/ }).waitFor()
    await menu.getByRole('link', { name: /^Approvals/ }).click()
    await asked.waitFor()
    await assertClean()
    expect(await asked.getByLabel('password').getAttribute('type')).toBe('password')
    await asked.getByLabel('Branch').fill('a branch with a name that is too long')
    await asked.getByLabel('depth').fill('2')
    await asked.getByLabel('colour').selectOption('blue')
    await asked.getByRole('button', { name: 'Send the answer' }).click()
    await asked.getByText('Branch must be at most 20 characters', { exact: false }).waitFor()
    await asked.getByLabel('Branch').fill('main')
    await asked.getByRole('button', { name: 'Send the answer' }).click()
    await page.getByText('echo has the answer, and its call goes on.').waitFor()
    await asked.waitFor({ state: 'detached' })
    await expect.poll(() => page.title()).toMatch(/^\(1\) /)
    await expect
      .poll(async () => (await api.showApproval({ id })).execution.state)
      .toBe('succeeded')
    const { result } = (await api.showApproval({ id })).execution
    expect(JSON.stringify(result)).toContain(
      JSON.stringify(JSON.stringify({ branch: 'main', depth: 2, colour: 'blue' })).slice(1, -1),
    )
  })

  test('the map leads from the agent over its tools to the server, and its table says the same', async () => {
    const { page, run } = dashboard
    await dashboard.goTo('/map?range=1h')
    const server = page.getByRole('link', { name: /^echo, MCP server, / })
    const numbers = async () =>
      /(\d+) calls?, .*?(\d+) waited/.exec((await server.getAttribute('aria-label')) ?? '')
    await server.waitFor()
    const [, calls, waited] = (await numbers()) ?? []
    await invoke(run, token, 'echo.say', { text: 'once more' })
    await expect.poll(async () => (await numbers())?.[1]).toBe(String(Number(calls) + 1))
    const row = page.getByRole('row').filter({ hasText: 'echo (MCP server)' })
    expect(await row.getByRole('cell').allInnerTexts()).toEqual([
      ...['mailbot', 'echo', 'echo (MCP server)'],
      ...[String(Number(calls) + 1), '0', String(Number(waited) + 1)],
    ])
    await server.focus()
    await page.getByText(/^echo → echo: \d+ calls, \d+ waited for a person$/).waitFor()
    await assertClean()
    await server.click()
    await page.getByRole('heading', { name: 'echo', exact: true }).waitFor()
  })

  test('rules are suggested, and a server is removed after its name was typed', async () => {
    const { page, api } = dashboard
    await dashboard.goTo('/upstreams/echo')
    await page.getByRole('button', { name: 'Actions: echo' }).click()
    await page.getByRole('menuitem', { name: 'Suggested rules' }).click()
    await page.getByRole('dialog').getByText('echo.say').first().waitFor()
    await page.getByRole('button', { name: 'Begin a draft with them' }).click()
    await page.getByText('A draft: it isn’t active until you save it.').waitFor()
    await page.getByText(/^Valid: \d+ rules?,/).waitFor()
    await page.getByRole('button', { name: 'Discard the draft' }).click()
    await dashboard.goTo('/upstreams/echo')
    await page.getByRole('button', { name: 'Actions: echo' }).click()
    await page.getByRole('menuitem', { name: 'Remove' }).click()
    await page.getByLabel('Type echo to confirm').fill('echo')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No MCP servers').waitFor()
    expect((await api.listUpstreams()).upstreams).toEqual([])
  })
})
