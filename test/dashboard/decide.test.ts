import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Dashboard } from '../support/dashboard.ts'
import { invoke } from '../support/server.ts'

describe.skipIf(!hasProgram('chromium'))('the card of a request, before the decision', () => {
  let dashboard: Dashboard
  let agent: { readonly token: string }

  const ask = async (capability: string, args: object): Promise<string> => {
    const held = await invoke(dashboard.run, agent.token, capability, args)
    return String(held.error?.data?.['approval_id'])
  }
  const cardOf = (id: string) => dashboard.page.locator(`article[data-id="${id}"]`)
  /** The card of a call that was approved three times before. */
  const askedAgain = async (args: object) => {
    for (let count = 0; count < 3; count += 1) {
      const approval_id = await ask('process.run', args)
      await dashboard.api.approveApproval({ id: approval_id })
      const waited = { approval_id, timeout_seconds: 30 }
      await invoke(dashboard.run, agent.token, 'approvals.wait', waited)
    }
    await dashboard.goTo('/approvals')
    return cardOf(await ask('process.run', args))
  }
  const assertClean = async () => {
    expect(await dashboard.axeFindings()).toEqual([])
    expect(await dashboard.overhang()).toBe(0)
  }

  beforeAll(async () => {
    dashboard = await Dashboard.openAs('ana', ['--sandbox-mode', 'unconfined'])
    agent = await dashboard.api.createAgent({ name: 'builder' })
    for (const path of ['one.txt', 'two.txt'])
      await invoke(dashboard.run, agent.token, 'filesystem.write', { path, content: 'kept' })
  })
  afterAll(() => dashboard?.[Symbol.asyncDispose]())

  test('says whether the call can be undone, and how', async () => {
    await dashboard.goTo('/approvals')
    const deleting = cardOf(await ask('filesystem.delete', { path: 'one.txt' }))
    await deleting.getByText('Can be undone').waitFor()
    expect(await deleting.innerText()).toContain('It stays in the trash for 7 days')
    expect(await deleting.getByText('Not sandboxed').count()).toBe(0)
    const running = cardOf(await ask('process.run', { command: 'true' }))
    await running.getByText("Can't be undone").waitFor()
    expect(await running.getByText('Not sandboxed').count()).toBe(1)
    expect(await running.innerText()).toContain('whatever the program does to the folders it sees')
    await assertClean()
  })

  test('names the decisions on those like it, and leads to them', async () => {
    const [first = ''] = (await dashboard.api.listApprovals({ agent: 'builder' })).approvals
      .filter(({ capability }) => capability === 'filesystem.delete')
      .map(({ id }) => id)
    await cardOf(first).getByText('There is no earlier decision on a similar request.').waitFor()
    await cardOf(first).getByRole('button', { name: 'Reject' }).click()
    await cardOf(first).getByText('Rejected by ana').waitFor()
    const second = await ask('filesystem.delete', { path: 'two.txt' })
    await cardOf(second).getByText('The last one like it:').waitFor()
    await assertClean()
    await cardOf(second).getByRole('link', { name: 'Rejected by ana' }).click()
    await dashboard.page.waitForURL(`**/approvals/${first}`)
    expect(await cardOf(first).getByText('The last one like it:').count()).toBe(0)
  })
  test('offers a rule after three approvals of the same call, with what it would change, and writes it', async () => {
    const { api, page, run } = dashboard
    const card = await askedAgain({ command: 'true' })
    await card
      .getByText('Approved 3 times this week. Let builder run process.run true without asking?')
      .waitFor()
    await card.getByRole('button', { name: 'See the rule…' }).click()
    await page
      .getByText('Of 12 calls by builder in the last week, 5 would have run without asking.')
      .waitFor()
    await assertClean()
    const written = async () =>
      (await api.showPolicies()).files.find(({ agent: name }) => name === 'builder')?.text
    expect(await written()).toBeUndefined()
    await page.getByRole('button', { name: 'Write the rule' }).click()
    await page.getByText('The rule is in agents/builder.yaml.').waitFor()
    await card.getByText('Approved 3 times this week.').waitFor({ state: 'detached' })
    expect(await written()).toMatch(/match: process\.run\n.*\n    tier: autonomous/)
    const free = await invoke(run, agent.token, 'process.run', { command: 'true' })
    expect(free.result?.success).toBe(true)
    expect(await ask('process.run', { command: 'true', args: ['more'] })).toMatch(/^appr-/)
  })
  test('writes no rule that a floor would override, and says where it stands', async () => {
    const { api, page } = dashboard
    await api.saveOrganisationPolicy({
      text: 'version: 1\nrules:\n  - { match: process.run, tier: approval_required, floor: true }\n',
    })
    agent = await api.createAgent({ name: 'tester' })
    const card = await askedAgain({ command: 'true' })
    await card.getByRole('button', { name: 'See the rule…' }).click()
    await page.getByText('organisation.yaml:3 is above it and keeps asking').waitFor()
    expect(await page.getByRole('button', { name: 'Write the rule' }).isDisabled()).toBe(true)
  })
})
