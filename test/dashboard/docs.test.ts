import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import { Dashboard } from '../support/dashboard.ts'

describe.skipIf(!hasProgram('chromium'))('documents in the dashboard', () => {
  test('the menu leads to them, search finds a section, and nothing comes from elsewhere', async () => {
    await using dashboard = await Dashboard.openAs('ana')
    const { page, run } = dashboard
    const withoutLogin = await dashboard.another()
    await withoutLogin.page.goto(`${run.dashboard_url}/docs`)
    expect(withoutLogin.page.url()).toBe(`${run.dashboard_url}/docs/`)
    const missing = await withoutLogin.page.request.get(`${run.dashboard_url}/docs/guide/none.html`)
    expect(missing.status()).toBe(404)

    await page.getByRole('link', { name: 'Documents' }).click()
    await page.getByRole('heading', { name: 'Documents', level: 1 }).waitFor()
    expect(page.url()).toBe(`${run.dashboard_url}/docs/`)
    // Its script comes after what it shows.
    await page.waitForLoadState()

    await page.keyboard.press('/')
    await page.keyboard.type('standing grants')
    await page.getByRole('link', { name: 'Remember: standing grants' }).click()
    await page.getByRole('heading', { name: 'Remember: standing grants' }).waitFor()
    expect(page.url()).toBe(
      `${run.dashboard_url}/docs/guide/approvals.html#remember-standing-grants`,
    )
    expect(await dashboard.axeFindings()).toEqual([])

    await page.setViewportSize({ width: 390, height: 844 })
    expect(await dashboard.overhang()).toBe(0)
    await page.getByRole('link', { name: 'Dashboard', exact: true }).click()
    await page.getByRole('button', { name: 'Menu' }).waitFor()

    expect(dashboard.complaints).toEqual([])
    const elsewhere = dashboard.requests.filter((url) => !url.startsWith(run.dashboard_url))
    expect(elsewhere).toEqual([])
  })
})
