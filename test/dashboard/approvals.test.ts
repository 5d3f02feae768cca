import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Dashboard, password } from '../support/dashboard.ts'
import { invoke } from '../support/server.ts'

const hostile =
  '<img src=x onerror="window.hit=1"> "><script>window.hit=1</script> \u202e\u001b[31mred'

describe.skipIf(!hasProgram('chromium'))(
  'the dashboard, from the first login to a decision',
  () => {
    let dashboard: Dashboard
    let agent: { readonly token: string }

    const ask = async (path: string): Promise<string> => {
      const { run } = dashboard
      const written = await invoke(run, agent.token, 'filesystem.write', { path, content: 'kept' })
      expect(written.result?.success).toBe(true)
      const held = await invoke(run, agent.token, 'filesystem.delete', { path })
      return String(held.error?.data?.['approval_id'])
    }
    const cardOf = (id: string) => dashboard.page.locator(`article[data-id="${id}"]`)
    const assertClean = async () => {
      expect(await dashboard.axeFindings()).toEqual([])
      expect(await dashboard.overhang()).toBe(0)
    }

    beforeAll(async () => {
      dashboard = await Dashboard.open()
      agent = await dashboard.api.createAgent({ name: 'mailbot', purpose: hostile })
    })
    afterAll(() => dashboard?.[Symbol.asyncDispose]())

    test('tells a person without a link how to get one', async () => {
      await dashboard.page.goto(dashboard.run.dashboard_url)
      await dashboard.page.getByText('gatehouse setup-link').waitFor()
      await assertClean()
    })

    test('makes the first operator with the link, which leaves the address at once', async () => {
      const { token } = await dashboard.api.createSetupLink()
      const { page, run } = dashboard
      await page.goto(`${run.dashboard_url}/#setup=${token}`)
      await page.getByRole('button', { name: 'Create operator and log in' }).waitFor()
      expect(page.url()).not.toContain('setup=')
      await assertClean()
      await page.getByLabel('Name').fill('ana')
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.getByLabel('Password again').fill(password)
      await page.getByRole('button', { name: 'Create operator and log in' }).click()
      await page.getByRole('button', { name: 'Account of ana' }).waitFor()
      dashboard.complaints.length = 0
    })

    test('shows a request by itself, as text whatever it is', async () => {
      await dashboard.goTo('/approvals')
      await dashboard.page.getByText('Nothing waits for you').waitFor()
      await dashboard.page.getByText('Live', { exact: true }).waitFor()
      const id = await ask(`a ${hostile.replaceAll('/', '')}.txt`)
      const card = cardOf(id)
      await card.waitFor()
      expect(await dashboard.page.evaluate('window.hit')).toBeUndefined()
      expect(await card.innerText()).toContain('U+202E')
      expect(await card.getByText('It contains invisible characters.').count()).toBe(1)
      expect(await card.locator('img, script').count()).toBe(0)
      await expect.poll(() => dashboard.page.title()).toMatch(/^\(1\) /)
      await assertClean()
    })

    test('has targets for fingers on a phone', async () => {
      const { page } = dashboard
      await page.setViewportSize({ width: 390, height: 844 })
      for (const name of ['Approve and run', 'Reject']) {
        const box = await page.getByRole('button', { name }).first().boundingBox()
        expect(box?.height ?? 0).toBeGreaterThanOrEqual(44)
      }
      await page.setViewportSize({ width: 1280, height: 900 })
    })

    test('leads from a notice to its request, and from a decision to what came of it', async () => {
      const ids = [await ask('one.txt'), await ask('two.txt')]
      const id = ids[1] ?? ''
      await dashboard.page.goto('about:blank')
      await dashboard.page.goto(`${dashboard.run.dashboard_url}/#approvals/${id}`)
      const card = cardOf(id)
      await card.getByLabel('Reason').fill('it may go')
      await card.getByRole('button', { name: 'Approve and run' }).click()
      await dashboard.page.getByText('Ran and succeeded').waitFor()
      const waited = await invoke(dashboard.run, agent.token, 'approvals.wait', {
        approval_id: id,
        timeout_seconds: 10,
      })
      expect(waited.result?.data).toMatchObject({ status: 'approved' })
      await assertClean()
    })

    test('keeps a decided request on the page until its outcome is there', async () => {
      await dashboard.goTo('/approvals')
      const id = await ask('three.txt')
      await cardOf(id).getByRole('button', { name: 'Reject' }).click()
      await cardOf(id).getByText('Rejected by ana').waitFor()
      await cardOf(id).getByRole('button', { name: 'Dismiss' }).click()
      await cardOf(id).waitFor({ state: 'detached' })
      expect((await dashboard.api.showApproval({ id })).status).toBe('rejected')
    })

    test('approves with other arguments, and the agent gets the result', async () => {
      const id = await ask('four.txt')
      const stale = await ask('five.txt')
      await cardOf(id).getByRole('button', { name: 'More' }).click()
      await dashboard.page.getByRole('menuitem', { name: 'Edit the arguments…' }).click()
      const field = dashboard.page.getByLabel('Arguments (JSON)')
      await field.fill('{ "path": ')
      await dashboard.page.getByText('This is not a JSON object').waitFor()
      await field.fill('{ "path": "five.txt" }')
      await dashboard.page.getByRole('button', { name: 'Approve the edited call' }).click()
      // What ran is another request: the card of this one does not say that it did.
      await cardOf(id).getByText('Approved with changes').waitFor()
      await cardOf(id).getByText('It did not run as it was asked for').waitFor()
      expect(await cardOf(id).innerText()).not.toContain('Ran and succeeded')
      const waited = await invoke(dashboard.run, agent.token, 'approvals.wait', {
        approval_id: id,
        timeout_seconds: 10,
      })
      expect(waited.result?.data).toMatchObject({ edited: { arguments: { path: 'five.txt' } } })
      // Its file is gone, so it could only be rejected: it would stand in the way of those to come.
      await dashboard.api.rejectApproval({ id: stale })
      await cardOf(stale).waitFor({ state: 'detached' })
    })

    test('lets later calls run for a time, lists the grant and revokes it', async () => {
      const id = await ask('six.txt')
      await cardOf(id).getByRole('button', { name: 'More' }).click()
      await dashboard.page.getByRole('menuitem', { name: 'Allow this for a time…' }).click()
      await dashboard.page.getByLabel('Which later calls').selectOption('same_capability')
      await dashboard.page.getByRole('button', { name: 'Approve and allow' }).click()
      await cardOf(id).getByText('Ran and succeeded').waitFor()
      await invoke(dashboard.run, agent.token, 'filesystem.write', {
        path: 'seven.txt',
        content: '',
      })
      const free = await invoke(dashboard.run, agent.token, 'filesystem.delete', {
        path: 'seven.txt',
      })
      expect(free.result?.success).toBe(true)
      await dashboard.page.getByRole('tab', { name: 'Standing grants' }).click()
      await dashboard.page.getByText('1', { exact: true }).first().waitFor()
      await assertClean()
      await dashboard.page.getByRole('button', { name: 'Revoke' }).click()
      await dashboard.page.getByText('No standing grants').waitFor()
    })

    test('decides fifty at once by keyboard alone, each recorded by itself', async () => {
      await dashboard.goTo('/approvals')
      const ids = await Promise.all(Array.from({ length: 50 }, (_, at) => ask(`many-${at}.txt`)))
      for (const id of ids) await cardOf(id).waitFor()
      const { page } = dashboard
      await page.getByRole('button', { name: 'Select all' }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: /^Approve 5\d$/ }).focus()
      await page.keyboard.press('Enter')
      await page.getByText(/^5\d requests decided\.$/).waitFor()
      for (const id of ids)
        await expect
          .poll(async () => (await dashboard.api.showApproval({ id })).execution.state)
          .toBe('succeeded')
      const { total } = await dashboard.api.queryAudit({ capability: 'approval.approved' })
      expect(total).toBeGreaterThanOrEqual(50)
    })

    test('moves, decides and goes elsewhere by single keys, which can be switched off', async () => {
      await dashboard.goTo('/approvals?tab=decided')
      const { page } = dashboard
      await page.keyboard.press('g')
      // A slow hand, or a slow machine.
      await page.evaluate(`
        const second = new KeyboardEvent('keydown', { key: 'p', bubbles: true })
        Object.defineProperty(second, 'timeStamp', { value: performance.now() + 60_000 })
        document.body.dispatchEvent(second)
      `)
      await page.getByRole('tab', { name: 'Waiting', selected: true }).waitFor()
      const id = await ask('keys.txt')
      await cardOf(id).waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('a')
      await cardOf(id).getByText('Ran and succeeded').waitFor()
      await page.keyboard.press('?')
      const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
      await help.waitFor()
      expect(await dashboard.axeFindings()).toEqual([])
      await help.getByLabel('Single-key shortcuts').uncheck()
      await page.keyboard.press('Escape')
      await help.waitFor({ state: 'detached' })
      await page.keyboard.press('?')
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Search pages' }).waitFor()
      expect(await help.count()).toBe(0)
      expect(await dashboard.axeFindings()).toEqual([])
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    })

    test('pauses all agents with a reason that stands above every page, and resumes them', async () => {
      const { page } = dashboard
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Search pages' }).waitFor()
      await page.keyboard.type('pause all')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByLabel('Reason').fill('a token has leaked')
      await page.getByRole('dialog').getByRole('button', { name: 'Pause all agents' }).click()
      await page.getByText('1 agent is paused.').waitFor()
      await dashboard.goTo('/alerts')
      const banner = page.getByRole('status').filter({ hasText: 'All agents are paused' })
      expect(await banner.innerText()).toMatch(
        /by ana .*: a token has leaked\. 1 agent is paused by it\./,
      )
      await assertClean()
      expect((await dashboard.api.showAgent({ name: 'mailbot' })).status).toBe('paused')
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Search pages' }).waitFor()
      await page.keyboard.type('resume')
      await page.keyboard.press('Enter')
      await page.getByRole('dialog').getByLabel('mailbot').uncheck()
      const submit = page.getByRole('dialog').getByRole('button', { name: /^Resume \d/ })
      expect(await submit.isDisabled()).toBe(true)
      await page.getByRole('dialog').getByLabel('mailbot').check()
      await submit.click()
      await page.getByText('1 agent is resumed.').waitFor()
      await banner.waitFor({ state: 'detached' })
    })

    test('asks nobody but its own service, and nothing on it goes wrong', () => {
      const elsewhere = dashboard.requests.filter(
        (url) => !url.startsWith(`${dashboard.run.dashboard_url}/`) && url !== 'about:blank',
      )
      expect(elsewhere).toEqual([])
      expect(dashboard.complaints).toEqual([])
    })

    test('shows a second person what the first decided, and a viewer no decision', async () => {
      const id = await ask('eight.txt')
      const { page, context } = await dashboard.another()
      await page.goto(`${dashboard.run.dashboard_url}/approvals`)
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.locator(`article[data-id="${id}"]`).waitFor()
      await dashboard.goTo('/approvals')
      await cardOf(id).getByRole('button', { name: 'Approve and run' }).click()
      await page.locator(`article[data-id="${id}"]`).waitFor({ state: 'detached' })
      expect((await dashboard.api.showApproval({ id })).decided_by).toBe('user:ana')
      await context.close()
    })

    test('listens again after a proxy said that the service is away', async () => {
      const { page } = dashboard
      const streams = '**/api/*/stream*'
      await page.route(streams, (route) => route.fulfill({ status: 502, body: 'Bad Gateway' }))
      await dashboard.goTo('/approvals')
      await page.getByText('Reconnecting…', { exact: true }).waitFor()
      await page.unroute(streams)
      await page.getByText('Live', { exact: true }).waitFor()
      const id = await ask('behind-proxy.txt')
      await cardOf(id).waitFor()
      expect(await dashboard.api.rejectApproval({ id })).toMatchObject({ status: 'rejected' })
      await cardOf(id).waitFor({ state: 'detached' })
    })

    test('keeps the page while a login has ended, and shows nothing after logging out', async () => {
      const { page } = dashboard
      const id = await ask('nine.txt')
      await cardOf(id).getByLabel('Reason').fill('half a sentence')
      await page.context().clearCookies()
      await page.evaluate('window.dispatchEvent(new Event("visibilitychange"))')
      // Whatever the page reads next may tell it first: the dialog then stands before the button.
      await cardOf(id).getByRole('button', { name: 'Reject' }).dispatchEvent('click')
      await page.getByRole('dialog', { name: 'Your login has ended' }).waitFor()
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.getByRole('button', { name: 'Log in' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(await cardOf(id).getByLabel('Reason').inputValue()).toBe('half a sentence')
      await page.getByText('Live', { exact: true }).waitFor()
      await cardOf(await ask('ten.txt')).waitFor()
      await page.getByRole('button', { name: 'Account of ana' }).click()
      await page.getByRole('menuitem', { name: 'Log out' }).click()
      await page.getByText('You are logged out.').waitFor()
      expect(await page.locator('article').count()).toBe(0)
      await assertClean()
    })
  },
)
