import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Dashboard } from '../support/dashboard.ts'
import { invoke } from '../support/server.ts'

/** Where the focus is, in words, and whether a person sees it: drawn, on the screen, and under nothing else. */
const focusNow = `(() => {
  const element = document.activeElement
  if (!element || element === document.body) return null
  const box = element.getBoundingClientRect()
  const [x, y] = [box.x + Math.min(box.width, innerWidth) / 2, box.y + box.height / 2]
  const at = document.elementFromPoint(Math.min(Math.max(x, 0), innerWidth - 1), Math.min(Math.max(y, 0), innerHeight - 1))
  const { outlineStyle, outlineWidth } = getComputedStyle(element)
  return {
    name: (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 60) || element.tagName,
    key: element.tagName + '|' + element.outerHTML.slice(0, 300) + '|' + Math.round(box.x) + '|' + Math.round(box.y + scrollY),
    seen: box.width > 0 && box.height > 0 && at !== null && (element.contains(at) || at.contains(element) || at.closest('label') !== null),
    inside: element.closest('#content') !== null,
    ring: outlineStyle !== 'none' && outlineWidth !== '0px',
  }
})()`

/** What can be pressed or filled in on the page, by the same words. */
const operable = `[...document.querySelectorAll(
  '#content a[href], #content button:not(:disabled), #content input:not(:disabled), #content select, #content textarea, #content summary'
)].filter((element) => {
  if (element.getAttribute('tabindex') === '-1' || !element.checkVisibility()) return false
  // Of a group of tabs or of choices one takes the focus, and arrows lead to the others.
  if (element.getAttribute('role') === 'tab') return element.getAttribute('aria-selected') === 'true'
  if (element.type === 'radio') return element.checked
  return true
}).length`

type Focus = {
  readonly name: string
  readonly key: string
  readonly seen: boolean
  readonly ring: boolean
  readonly inside: boolean
} | null

const pages = [
  ...['/overview', '/approvals', '/activity', '/agents', '/agents/mailbot', '/map', '/audit'],
  ...['/agents/mailbot?tab=policy'],
  ...['/policy', '/policy?tab=simulate', '/services', '/upstreams', '/state', '/secrets'],
  ...['/models', '/alerts', '/alerts?tab=handling', '/settings'],
  ...['/settings?tab=certificate', '/settings?tab=retention', '/settings?tab=configuration'],
]

describe.skipIf(!hasProgram('chromium'))('pages of the dashboard by keyboard alone', () => {
  let dashboard: Dashboard

  beforeAll(async () => {
    dashboard = await Dashboard.openAs('ana')
    const { token } = await dashboard.api.createAgent({ name: 'mailbot' })
    await invoke(dashboard.run, token, 'filesystem.write', { path: 'a.txt', content: 'kept' })
    await invoke(dashboard.run, token, 'filesystem.delete', { path: 'a.txt' })
    await invoke(dashboard.run, token, 'alerts.send', { severity: 'warning', message: 'Look here' })
  })
  afterAll(() => dashboard?.[Symbol.asyncDispose]())

  test.each(pages)(
    'Tab reaches everything on %s, and what has the focus is seen',
    async (address) => {
      const { page } = dashboard
      await dashboard.goTo(address)
      await dashboard.loaded()
      await page.locator('#content').focus()
      const wanted = await page.evaluate<number>(operable)
      const reached = new Map<string, Focus>()
      for (let presses = 0; presses < wanted + 40; presses += 1) {
        await page.keyboard.press('Tab')
        const focus = await page.evaluate<Focus>(focusNow)
        if (!focus?.inside) break
        reached.set(focus.key, focus)
      }
      const unseen = [...reached.values()].filter((focus) => focus && !(focus.seen && focus.ring))
      expect(unseen).toEqual([])
      expect(reached.size).toBeGreaterThanOrEqual(wanted)
    },
  )

  test('what is typed into the middle of a field of the address stays there', async () => {
    const { page } = dashboard
    await dashboard.goTo('/policy?tab=simulate')
    const field = page.getByLabel('Capability', { exact: true })
    await field.focus()
    await page.keyboard.type('file.write')
    await page.keyboard.press('Home')
    for (const _letter of 'file') await page.keyboard.press('ArrowRight')
    await page.keyboard.type('system')
    expect(await field.inputValue()).toBe('filesystem.write')
    await page.waitForURL(/capability=filesystem\.write/)
  })
})
