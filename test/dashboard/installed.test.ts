import { hasProgram } from '@gatehouse/testkit/programs'
import type { Worker } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Dashboard } from '../support/dashboard.ts'
import { invoke } from '../support/server.ts'

/**
 * What the worker shows now. Chromium forgets a notification that is asked for between its storing and its showing:
 * nobody asks before the page has shown what it wanted to.
 */
const shown = (worker: Worker) =>
  worker.evaluate<{ title: string; tag: string }[]>(
    'registration.getNotifications().then((all) => all.map(({ title, tag }) => ({ title, tag })))',
  )

/** Lets the page count what it has shown. */
const countShown = `(() => {
  const { prototype } = ServiceWorkerRegistration
  const show = prototype.showNotification
  globalThis.shown = 0
  prototype.showNotification = async function (...given) {
    await show.apply(this, given)
    globalThis.shown++
  }
})()`

describe.skipIf(!hasProgram('chromium'))('the dashboard on a phone, as an app', () => {
  let dashboard: Dashboard
  let worker: Worker
  let token = ''

  const ask = async (path: string): Promise<string> => {
    await invoke(dashboard.run, token, 'filesystem.write', { path, content: 'kept' })
    const held = await invoke(dashboard.run, token, 'filesystem.delete', { path })
    return String(held.error?.data?.['approval_id'])
  }

  beforeAll(async () => {
    dashboard = await Dashboard.openAs('ana')
    token = (await dashboard.api.createAgent({ name: 'mailbot' })).token
    await dashboard.page.setViewportSize({ width: 390, height: 844 })
    const context = dashboard.page.context()
    await context.grantPermissions(['notifications'], { origin: dashboard.run.dashboard_url })
    worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'))
  })
  afterAll(() => dashboard?.[Symbol.asyncDispose]())

  test('can be installed: browsers find nothing that is missing', async () => {
    const { page } = dashboard
    const session = await page.context().newCDPSession(page)
    const { errors, data } = await session.send('Page.getAppManifest')
    expect(errors).toEqual([])
    const { icons } = JSON.parse(data ?? '{}') as { icons: { src: string; type: string }[] }
    for (const { src, type } of icons) {
      const answer = await page.request.get(`${dashboard.run.dashboard_url}${src}`)
      expect([answer.status(), answer.headers()['content-type']]).toEqual([200, type])
    }
    const { installabilityErrors } = await session.send('Page.getInstallabilityErrors')
    // Tests run in private windows, which install nothing.
    expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(['in-incognito'])
  })

  test('rings for what begins to wait while nobody looks, and for nothing else', async () => {
    const { page } = dashboard
    await dashboard.goTo('/settings?tab=appearance')
    await page.evaluate(countShown)
    await ask('before.txt')
    await page.getByLabel('Notify me of new requests').check()
    expect(await dashboard.axeFindings()).toEqual([])
    await ask('while-looking.txt')
    await expect.poll(() => page.title()).toMatch(/^\(2\) /)
    expect(await shown(worker)).toEqual([])
    await page.evaluate('document.hasFocus = () => false')
    const id = await ask('away.txt')
    await expect.poll(() => page.evaluate('shown')).toBe(1)
    expect(await shown(worker)).toEqual([
      { title: 'mailbot asks for filesystem.delete away.txt', tag: id },
    ])
  })

  test('leads from the notification to the request, which a thumb decides', async () => {
    const { page } = dashboard
    const [{ tag: id } = { tag: '' }] = await shown(worker)
    await worker.evaluate(`registration.getNotifications().then(([notification]) =>
      dispatchEvent(new NotificationEvent('notificationclick', { notification })))`)
    await page.waitForURL(`**/approvals/${id}`)
    expect(await shown(worker)).toEqual([])
    const approve = page.getByRole('button', { name: 'Approve and run' })
    await approve.scrollIntoViewIfNeeded()
    const box = await approve.boundingBox()
    expect(box?.height ?? 0).toBeGreaterThanOrEqual(44)
    await approve.click()
    await page.getByText('Ran and succeeded').waitFor()
    expect((await dashboard.api.showApproval({ id })).status).toBe('approved')
  })

  test('says that the service is away, and comes back with it', async () => {
    const { page } = dashboard
    const context = page.context()
    await context.setOffline(true)
    await page.goto(`${dashboard.run.dashboard_url}/agents`)
    await page.getByRole('heading', { name: "Gatehouse can't be reached" }).waitFor()
    await context.setOffline(false)
    await page.getByRole('link', { name: 'Try again' }).click()
    await page.getByRole('heading', { name: 'Agents' }).waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'mailbot' }).count()).toBe(1)
  })
})
