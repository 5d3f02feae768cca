import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Dashboard } from '../support/dashboard.ts'
import { invoke } from '../support/server.ts'

const rules = (tier: string) => `version: 1
rules:
  - match: filesystem.write
    when: args.path.startsWith("notes/")
    tier: autonomous
  - match: filesystem.write
    tier: ${tier}
    reason: Only notes are written
`
const failingTest = `${rules('blocked')}tests:
  - { capability: filesystem.write, args: { path: plan.md, content: x }, expect: autonomous }
`

describe.skipIf(!hasProgram('chromium'))('the policy in the dashboard', () => {
  let dashboard: Dashboard
  let token = ''

  beforeAll(async () => {
    dashboard = await Dashboard.openAs('ana')
    token = (await dashboard.api.createAgent({ name: 'mailbot' })).token
  })
  afterAll(() => dashboard?.[Symbol.asyncDispose]())

  const editor = () => dashboard.page.getByRole('textbox', { name: 'Text of ' })
  const type = async (text: string) => {
    await editor().click()
    await dashboard.page.keyboard.press('ControlOrMeta+a')
    await dashboard.page.keyboard.insertText(text)
  }
  const assertClean = async () => {
    expect(await dashboard.axeFindings()).toEqual([])
    expect(await dashboard.overhang()).toBe(0)
  }
  const write = (path: string) =>
    invoke(dashboard.run, token, 'filesystem.write', { path, content: 'x' })

  test('a service without rules of its own shows what ships, and how to begin', async () => {
    const { page } = dashboard
    await dashboard.goTo('/overview')
    await page.keyboard.press('g')
    await page.keyboard.press('l')
    await page.getByText('The rules that come with Gatehouse decide').waitFor()
    await page.getByLabel('Filter').fill('email.send')
    await page.getByText('Rules of system.yaml (').waitFor({ state: 'detached' })
    expect(await page.getByText(/^system\.yaml:\d+$/).count()).toBe(1)
  })

  test('an error is shown at its line while somebody types, and leads there', async () => {
    const { page } = dashboard
    await page.getByRole('tab', { name: 'Edit' }).click()
    await page.getByText('There is no organisation.yaml yet').waitFor()
    await type(rules('blokced'))
    await page.getByText('1 error: it can’t be saved yet.').waitFor()
    const problem = page.getByRole('list', { name: 'Problems' }).getByRole('listitem')
    expect(await problem.innerText()).toMatch(/Line 7, column 11[\s\S]*Did you mean blocked\?/)
    await page.locator('.cm-line .cm-lintRange-error', { hasText: 'blokced' }).waitFor()
    await assertClean()
    await problem.getByRole('button').click()
    await page.keyboard.press('Shift+End')
    await page.keyboard.type('blocked')
    await page.getByText('Valid: 2 rules, 0 tests passed.').waitFor()
    expect(page.url()).toContain('/policy')
  })

  test('keys that are shortcuts elsewhere are letters in the editor', async () => {
    const { page } = dashboard
    await page.keyboard.press('g')
    await page.keyboard.press('p')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('Backspace')
    await page.getByText('Valid: 2 rules').waitFor()
    expect(page.url()).toContain('/policy')
  })

  test('names of capabilities are completed', async () => {
    const { page } = dashboard
    await page.keyboard.press('Enter')
    await page.keyboard.type('- match: git.comm')
    // While the list is made anew for what was typed last, the editor ignores a click in it.
    const list = page.locator('.cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)')
    await list.getByRole('option', { name: 'git.commit' }).click()
    await page.locator('.cm-line', { hasText: /^\s+- match: git\.commit$/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.type('tier: ')
    await page.keyboard.press('Control+Space')
    const options = list.getByRole('option')
    await options.first().waitFor()
    expect(await options.allInnerTexts()).toEqual(['approval_required', 'autonomous', 'blocked'])
    await type(failingTest)
  })

  test('a test that fails keeps the file from being saved', async () => {
    const { page, api } = dashboard
    await page.getByRole('button', { name: 'Save…' }).click()
    await page.getByText('is expected to be autonomous, but is blocked').waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect((await api.showPolicies()).files).toHaveLength(1)
    // What is wrong may have been there before the button was pressed, which then puts the cursor at it.
    await expect
      .poll(() => page.evaluate(`document.activeElement?.closest('[data-editor]') !== null`))
      .toBe(true)
    await type(rules('blocked'))
    await page.getByText('Valid: 2 rules').waitFor()
  })

  test('the draft is simulated for all agents, with the rule that decides', async () => {
    const { page } = dashboard
    await page.getByRole('tab', { name: 'Simulate' }).click()
    await page.getByLabel('Capability', { exact: true }).fill('filesystem.write')
    // Whoever comes from a draft tries the draft.
    expect(await page.getByLabel('Policy', { exact: true }).inputValue()).toBe('organisation.yaml')
    await page.getByLabel('Arguments (JSON)').fill('{ "path": "plan.md", "content": ')
    await page.getByText('This is not a JSON object').waitFor()
    await page.getByLabel('Arguments (JSON)').fill('{ "path": "plan.md", "content": "x" }')
    await page.getByRole('button', { name: 'Simulate' }).click()
    const row = page.locator('[data-row="mailbot filesystem.write"]')
    await row.getByText('Blocked').waitFor()
    expect(await row.innerText()).toMatch(
      /before\s+Runs at once[\s\S]*organisation\.yaml:6[\s\S]*Only notes are written/,
    )
    await row.getByText('Evaluated rules').click()
    await row.getByText('its condition is false').waitFor()
    await assertClean()
  })

  test('the draft is replayed over the calls that were made, each counted', async () => {
    const { page } = dashboard
    for (const path of ['plan.md', 'list.md'])
      expect((await write(path)).result?.success).toBe(true)
    await page.getByRole('tab', { name: 'Replay' }).click()
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('2 calls, 2 decided differently').waitFor()
    const table = page.getByRole('table', { name: 'mailbot' })
    expect(await table.innerText()).toMatch(/filesystem\.write[\s\S]*Runs at once[\s\S]*Blocked/)
    await assertClean()
    await table.getByRole('link').first().click()
    await page.waitForURL('**/audit/*')
    await page.goBack()
  })

  test('it is saved once its difference was seen, and is in force at once', async () => {
    const { page, api } = dashboard
    await page.getByRole('tab', { name: 'Edit' }).click()
    await page.getByText('Valid: 2 rules').waitFor()
    await page.getByRole('button', { name: 'Save…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save organisation.yaml' })
    await dialog.getByText('+    reason: Only notes are written').waitFor()
    expect(await dashboard.axeFindings()).toEqual([])
    expect((await write('plan.md')).result?.success).toBe(true)
    await dialog.getByRole('button', { name: 'Save and activate' }).click()
    await page.getByText('organisation.yaml is saved and active.').waitFor()
    expect((await write('plan.md')).error?.message).toContain('Only notes are written')
    expect((await api.showPolicies()).files.at(-1)?.text).toBe(rules('blocked'))
    await page.getByText('Same as the active policy.').waitFor()
  })

  test('what was saved is undone by one button, and the page says who changed what when', async () => {
    const { page, api } = dashboard
    await type(rules('approval_required'))
    await page.getByRole('button', { name: 'Save…' }).click()
    await page.getByRole('button', { name: 'Save and activate' }).click()
    await page.getByRole('button', { name: 'Undo: organisation.yaml is saved and active.' }).click()
    await page.getByText('Undone.').waitFor()
    expect((await api.showPolicies()).files.at(-1)?.text).toBe(rules('blocked'))
    await page.getByRole('tab', { name: 'Rules' }).click()
    const changes = page.getByRole('table', { name: 'Changes' }).getByRole('row')
    await expect.poll(() => changes.count()).toBe(4)
    expect(await changes.nth(1).innerText()).toMatch(/ana\s+policy\.saved organisation\.yaml/)
    await assertClean()
    await page.getByRole('tab', { name: 'Edit' }).click()
  })

  test('a file that somebody else changed meanwhile is replaced only after its difference was seen', async () => {
    const { page, api } = dashboard
    const theirs = `# Theirs\n${rules('blocked')}`
    const file = async () => (await api.showPolicies()).files.at(-1)?.text
    await type(rules('approval_required'))
    await page.getByText('Valid: 2 rules').waitFor()
    await page.getByRole('button', { name: 'Save…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save organisation.yaml' })
    await dialog.getByText('+    tier: approval_required').waitFor()
    await api.saveOrganisationPolicy({ text: theirs })
    await dialog.getByRole('button', { name: 'Save and activate' }).click()
    await dialog.getByText('The file has changed since you began.').waitFor()
    await dialog.getByText('-# Theirs').waitFor()
    expect(await file()).toBe(theirs)
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('The file has changed since you began this draft.').waitFor()
    expect(await editor().innerText()).toContain('tier: approval_required')
    await page.getByRole('button', { name: 'Save…' }).click()
    await dialog.getByRole('button', { name: 'Replace their text with mine' }).click()
    await page.getByText('Same as the active policy.').waitFor()
    expect(await file()).toBe(rules('approval_required'))
    expect((await write('plan.md')).error?.data?.['approval_id']).toMatch(/^appr-/)
  })

  describe('while a save is under way', () => {
    const address = '**/api/policies/organisation'
    /** Saves a text that the service gets once it is let through; the dialog is closed meanwhile. */
    const beginSave = async (text: string) => {
      const { page } = dashboard
      await dashboard.goTo('/policy?tab=edit')
      await editor().getByText('version: 1').waitFor()
      await type(text)
      await page.getByRole('button', { name: 'Save…' }).click()
      const letThrough = await dashboard.heldBack(address)
      const dialog = page.getByRole('dialog', { name: 'Save organisation.yaml' })
      const asked = page.waitForRequest(address)
      await dialog.getByRole('button', { name: 'Save and activate' }).click()
      await asked
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      return letThrough
    }
    const discard = async () => {
      await dashboard.page.getByRole('button', { name: 'Discard the draft' }).click()
      await dashboard.page.getByText('Same as the active policy.').waitFor()
    }

    test('what is typed back to the text before it stays', async () => {
      const { page, api } = dashboard
      const letThrough = await beginSave(rules('blocked'))
      await type(rules('approval_required'))
      await letThrough()
      await page.getByText('organisation.yaml is saved and active.').waitFor()
      expect((await api.showPolicies()).files.at(-1)?.text).toBe(rules('blocked'))
      expect(await editor().innerText()).toContain('tier: approval_required')
      await discard()
      expect(await editor().innerText()).toContain('tier: blocked')
    })

    test('what is typed meanwhile stays also where the save is refused', async () => {
      const { page, api } = dashboard
      const letThrough = await beginSave(rules('approval_required'))
      await type(rules('autonomous'))
      await api.saveOrganisationPolicy({ text: `# Theirs\n${rules('blocked')}` })
      const answered = page.waitForResponse(address)
      await letThrough()
      expect((await answered).status()).toBe(412)
      await dashboard.loaded()
      await page.getByText('The file has changed since you began this draft.').waitFor()
      expect(await editor().innerText()).toMatch(/tier: autonomous[^]*tier: autonomous/)
      await discard()
    })
  })

  test('a rule that is never reached says so where it stands, and leads into its file', async () => {
    const { page, api } = dashboard
    const text = `version: 1
rules:
  - { match: "email.*", tier: blocked, reason: No mail }
  - { match: email.send, tier: approval_required }
`
    await api.saveAgentPolicy({ name: 'mailbot', text })
    await dashboard.goTo('/policy')
    const rule = page.getByRole('row', { name: /email\.send.*this rule is never reached/ })
    await rule.getByText('Waits for a person').waitFor()
    await assertClean()
    await rule.getByRole('button', { name: 'Edit agents/mailbot.yaml at line 4' }).click()
    await page.locator('.cm-activeLineGutter', { hasText: '4' }).waitFor()
    expect(page.url()).toContain('file=mailbot')
  })

  test('a ready policy is used once the tiers and the text that it changes were seen', async () => {
    const { page } = dashboard
    await page.getByRole('button', { name: 'Use a ready policy…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('read-only').click()
    const change = dialog.getByRole('row', { name: /^filesystem\.append/ })
    await change.getByText('Blocked').waitFor()
    expect(await dashboard.axeFindings()).toEqual([])
    await dialog.getByRole('button', { name: 'Show the difference…' }).click()
    await dialog.getByText('+# An agent reads, and does nothing else.').waitFor()
    expect((await write('notes/a.md')).error).toBeUndefined()
    await dialog.getByRole('button', { name: 'Save and activate' }).click()
    await page.getByText('Same as the active policy.').waitFor()
    expect((await write('notes/a.md')).error?.message).toContain('This policy is for reading alone')
  })

  test('calls of all agents are simulated once it is known how many there are', async () => {
    const { page } = dashboard
    const letThrough = await dashboard.heldBack('**/api/agents*')
    await dashboard.goTo('/policy?tab=simulate')
    await page.getByLabel('Capability', { exact: true }).fill('filesystem.write')
    await page.getByLabel('Arguments (JSON)').fill('{ "path": "plan.md", "content": "x" }')
    const simulate = page.getByRole('button', { name: 'Simulate' })
    expect(await simulate.isDisabled()).toBe(true)
    await letThrough()
    await simulate.click()
    const row = page.locator('[data-row="mailbot filesystem.write"]')
    await row.getByText('Evaluated rules').waitFor()
    const wrong = dashboard.complaints.filter((one) => !one.startsWith('Failed to load resource'))
    expect(wrong).toEqual([])
  })
})
