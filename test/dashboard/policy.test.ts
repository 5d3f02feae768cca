import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Dashboard } from '../support/dashboard.ts'
import { invoke } from '../support/server.ts'

const select = process.platform === 'darwin' ? 'Meta+a' : 'Control+a'

describe.skipIf(!hasProgram('chromium'))('policy in the dashboard', () => {
  let dashboard: Dashboard
  let token = ''

  beforeAll(async () => {
    dashboard = await Dashboard.openAs('ana')
    token = (await dashboard.api.createAgent({ name: 'mailbot' })).token
    await invoke(dashboard.run, token, 'filesystem.write', { path: 'a.txt', content: 'kept' })
    await invoke(dashboard.run, token, 'filesystem.read', { path: 'a.txt' })
  }, 120_000)
  afterAll(() => dashboard?.[Symbol.asyncDispose]())

  /** Replaces the text in the editor, as a person does. */
  const write = async (lines: readonly string[]) => {
    const { page } = dashboard
    await page.getByRole('textbox', { name: 'Policy file (YAML)' }).click()
    await page.keyboard.press(select)
    await page.keyboard.insertText(`${lines.join('\n')}\n`)
  }
  const rule = (tier: string) => [
    'version: 1',
    'rules:',
    `  - {match: filesystem.read, tier: ${tier}}`,
  ]

  test('an error is shown at its line and keeps the file from being saved', async () => {
    const { page } = dashboard
    await dashboard.goTo('/policy?tab=edit')
    await write(rule('blockt'))
    const problems = page.getByRole('list', { name: 'Problems' })
    await problems.getByText(/:3:\d+$/).waitFor()
    expect(await page.getByRole('button', { name: 'Save and activate' }).isDisabled()).toBe(true)
    expect(await dashboard.axeFindings()).toEqual([])
    expect(await dashboard.overhang()).toBe(0)
    await problems.getByRole('button').first().click()
    expect(await page.evaluate('document.activeElement.shadowRoot?.activeElement?.ariaLabel')).toBe(
      'Policy file (YAML)',
    )
  })

  test('a text that is not saved is simulated and replayed against the log', async () => {
    const { page } = dashboard
    await write(rule('blocked'))
    await page.getByText('Valid: 1 rule').waitFor()
    await page.getByRole('tab', { name: 'Simulate' }).click()
    await page.getByLabel('By', { exact: true }).selectOption('draft')
    await page.getByLabel('Capability').fill('filesystem.read')
    await page.getByLabel('Arguments (JSON, may stay empty)').fill('{ "path": "a.txt" }')
    await page.getByRole('button', { name: 'Simulate' }).click()
    const row = page.getByRole('row').filter({ hasText: 'mailbot' })
    await row.getByText('Blocked', { exact: true }).waitFor()
    expect(await dashboard.axeFindings()).toEqual([])
    await page.getByRole('tab', { name: 'Replay' }).click()
    await page.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('Runs → Blocked').waitFor()
    expect(await dashboard.axeFindings()).toEqual([])
    const still = await invoke(dashboard.run, token, 'filesystem.read', { path: 'a.txt' })
    expect(still.result?.success).toBe(true)
  })

  test('what is saved is active with the next call', async () => {
    const { page } = dashboard
    await page.getByRole('tab', { name: 'Edit' }).click()
    await page.getByText('Valid: 1 rule').waitFor()
    await page.getByText('Show what changes').click()
    await page.getByRole('button', { name: 'Save and activate' }).click()
    await page.getByText(/^Saved\. Version/).waitFor()
    const refused = await invoke(dashboard.run, token, 'filesystem.read', { path: 'a.txt' })
    expect(refused.result?.success).toBeUndefined()
    expect(refused.error?.message).toMatch(/policy/i)
    await page.getByRole('tab', { name: 'Files' }).click()
    await page.getByText('tier: blocked').first().waitFor()
  })

  test('somebody else’s save is shown beside what was typed, and neither is lost', async () => {
    const { page, api } = dashboard
    await page.getByRole('tab', { name: 'Edit' }).click()
    await write(rule('approval_required'))
    await page.getByText('Valid: 1 rule').waitFor()
    await api.saveOrganisationPolicy({ text: `${rule('autonomous').join('\n')}\n` })
    await page.getByRole('button', { name: 'Save and activate' }).click()
    await page.getByText('Somebody else saved this file meanwhile.').waitFor()
    expect(await dashboard.axeFindings()).toEqual([])
    await page.getByRole('button', { name: 'Keep mine' }).click()
    await page.getByRole('button', { name: 'Save and activate' }).click()
    await page
      .getByText(/^Saved\. Version/)
      .first()
      .waitFor()
    const files = (await api.showPolicies()).files
    expect(files.find(({ layer }) => layer === 'organisation')?.text).toContain('approval_required')
  })
})
