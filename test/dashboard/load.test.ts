import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fill } from '../../benchmarks/log-of-a-million.mjs'
import { Dashboard } from '../support/dashboard.ts'
import { invoke } from '../support/server.ts'

const isFull = process.env['GATEHOUSE_FULL'] === '1'
const seconds = isFull ? 60 : 6
const perSecond = 1_000

/**
 * Stands in for the stream of events: as the page hears them, and as many as no machine of a test can make beside a
 * browser. All else is the service's own. Notes how long each frame took.
 */
const manyEvents = `(() => {
  const kinds = ['success', 'denied', 'error']
  let count = 0
  const open = (stream, url) => {
    stream.readyState = 1
    stream.dispatchEvent(new Event('open'))
    if (!url.includes('activity')) return
    window.eventStream = stream
  }
  window.EventSource = class extends EventTarget {
    static OPEN = 1
    static CLOSED = 2
    readyState = 0
    constructor(url) {
      super()
      setTimeout(() => open(this, url), 10)
    }
    close() { this.readyState = 2 }
  }
  const emit = () => {
    count += 1
    const id = 'evt-' + count
    const data = JSON.stringify({
      id, type: 'capability_invoked', timestamp: new Date().toISOString(), agent: 'agent-' + (count % 500), success: true,
      capability: 'filesystem.read', object: 'file-' + count + '.txt', result: kinds[count % 3], actor: 'agent:a',
      policy_decision: 'autonomous', duration_ms: 2, approval_id: null, session_id: null, error: null,
    })
    window.eventStream.dispatchEvent(new MessageEvent('activity', { data, lastEventId: id }))
  }
  /** The longest frame of a page that nothing happens on: what other work of the machine takes. */
  window.idleFor = (seconds) => new Promise((resolve) => {
    const began = performance.now()
    let last = began
    let longest = 0
    const frame = (now) => {
      longest = Math.max(longest, now - last)
      last = now
      if (now - began < seconds * 1000) requestAnimationFrame(frame)
      else resolve(longest)
    }
    requestAnimationFrame(frame)
  })
  window.emitFor = (seconds, perSecond) => new Promise((resolve) => {
    const began = performance.now()
    let sent = 0
    let last = began
    let longest = 0
    const frame = (now) => {
      longest = Math.max(longest, now - last)
      last = now
      const due = Math.min(seconds * perSecond, Math.floor(((now - began) / 1000) * perSecond))
      for (; sent < due; sent += 1) emit()
      if (sent < seconds * perSecond) requestAnimationFrame(frame)
      else resolve({ sent, longest })
    }
    requestAnimationFrame(frame)
  })
})()`

/** What a request to the service takes from the page, until the next frame is drawn. */
const roundTrip = `(async () => {
  const began = performance.now()
  await (await fetch('/api/approvals')).json()
  await new Promise(requestAnimationFrame)
  return performance.now() - began
})()`

/** Places of rows of a list with the number in the name of their file; waits until none of them is being read. */
const rowsRead = `new Promise((resolve) => {
  const look = () => {
    const rows = [...document.querySelectorAll('#content [role="listitem"]')]
    if (rows.length === 0 || rows.some((row) => row.querySelector('[aria-busy]'))) return setTimeout(look, 20)
    resolve(rows.map((row) => [
      Number(row.getAttribute('aria-posinset')),
      Number(/file-(\\d+)\\.ts/.exec(row.textContent)?.[1] ?? NaN),
    ]))
  }
  requestAnimationFrame(() => setTimeout(look, 120))
})`

const focusedRow = `Number(document.activeElement.closest('[role="listitem"]')?.getAttribute('aria-posinset') ?? NaN)`

describe.skipIf(!hasProgram('chromium'))('the dashboard of a busy service', () => {
  let dashboard: Dashboard

  beforeAll(async () => {
    dashboard = await Dashboard.openAs('ana')
  })
  afterAll(() => dashboard?.[Symbol.asyncDispose]())

  test('a request is on the screen within 300 ms of the call', async () => {
    const { page, run, api } = dashboard
    const { token } = await api.createAgent({ name: 'quick' })
    await dashboard.goTo('/approvals')
    await page.getByText('Live', { exact: true }).waitFor()
    await page.evaluate(`
      window.seen = {}
      new MutationObserver(() => {
        for (const { dataset } of document.querySelectorAll('article[data-id]'))
          window.seen[dataset.id] ??= Date.now()
      }).observe(document.body, { childList: true, subtree: true })
    `)
    const waits: number[] = []
    const trips: number[] = []
    for (let at = 0; at < 5; at += 1) {
      const path = `${at}.txt`
      await invoke(run, token, 'filesystem.write', { path, content: '' })
      const calledMs = Date.now()
      const held = await invoke(run, token, 'filesystem.delete', { path })
      const id = String(held.error?.data?.['approval_id'])
      await page.locator(`article[data-id="${id}"]`).waitFor()
      trips.push(await page.evaluate<number>(roundTrip))
      waits.push((await page.evaluate<number>(`window.seen['${id}']`)) - calledMs)
    }
    console.info(
      `from call to card: ${waits.join(', ')} ms; a request: ${trips.map(Math.round).join(', ')} ms`,
    )
    // Of several, and by what a request to the service takes: other work of the machine makes all of them late.
    expect(Math.min(...waits)).toBeLessThan(Math.max(300, 15 * Math.min(...trips)))
  })

  test('500 agents are listed, found by what is typed, and whole on a phone', async () => {
    const { page, api } = dashboard
    for (let from = 0; from < 500; from += 50)
      await Promise.all(
        Array.from({ length: 50 }, (_, at) =>
          api.createAgent({ name: `agent-${from + at}`, purpose: 'One of many' }),
        ),
      )
    await dashboard.goTo('/agents')
    await page.getByRole('link', { name: 'agent-499', exact: true }).waitFor()
    expect(await page.getByRole('link', { name: /^agent-\d+$/ }).count()).toBe(500)
    expect(await dashboard.overhang()).toBe(0)
    const row = page.getByRole('row').filter({ hasText: 'agent-499' })
    expect(await row.innerText()).toMatch(/Never\s+(?:just now|\d+ \w+ ago)/)
    await page.getByLabel('Name, purpose or client').fill('agent-49')
    await expect.poll(() => page.getByRole('link', { name: /^agent-\d+$/ }).count()).toBe(11)
    await page.waitForURL(/words=agent-49/)
    await page.getByLabel('Status').selectOption('paused')
    await expect.poll(() => page.getByRole('link', { name: /^agent-\d+$/ }).count()).toBe(0)
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Search pages' }).waitFor()
    await page.keyboard.type('agent-321')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/agents/agent-321')
  })

  test(`${perSecond} events a second are shown with flat memory`, async () => {
    const { page } = dashboard
    const session = await page.context().newCDPSession(page)
    const heapBytes = async () => {
      await session.send('HeapProfiler.collectGarbage')
      return (await session.send('Runtime.getHeapUsage')).usedSize
    }
    await page.addInitScript(manyEvents)
    await dashboard.goTo('/activity')
    await page.getByText('Live', { exact: true }).waitFor()
    // The list is full, and what the page keeps of it: from here on nothing may grow.
    await page.evaluate(`window.emitFor(3, ${perSecond})`)
    const before = await heapBytes()
    const idle = await page.evaluate<number>(`window.idleFor(${seconds / 2})`)
    const { sent, longest } = await page.evaluate<{ sent: number; longest: number }>(
      `window.emitFor(${seconds}, ${perSecond})`,
    )
    expect(sent).toBe(seconds * perSecond)
    const newest = `file-${3 * perSecond + sent}.txt`
    await page.getByRole('listitem').filter({ hasText: newest }).waitFor()
    expect(await page.getByRole('listitem').count()).toBeLessThan(100)
    expect((await heapBytes()) - before).toBeLessThan(3_000_000)
    console.info(
      `${sent} events; longest frame ${Math.round(longest)} ms, of an idle page ${Math.round(idle)} ms`,
    )
    // The long form is for a machine that does nothing else.
    if (isFull) expect(longest).toBeLessThan(100)
  })

  test('100,000 entries of the log are one list: in order, none missing, none twice', {
    ...(isFull ? { timeout: 1_800_000 } : {}),
  }, async () => {
    const { page } = dashboard
    const filled = 100_000
    await dashboard.restartAfter((dataDir) => fill(dataDir, filled))
    const session = await page.context().newCDPSession(page)
    const heapBytes = async () => {
      await session.send('HeapProfiler.collectGarbage')
      return (await session.send('Runtime.getHeapUsage')).usedSize
    }
    await dashboard.goTo('/audit')
    await page.getByRole('listitem').first().waitFor()
    const read = () => page.evaluate<[number, number][]>(rowsRead)
    // Below its top the list stays as it was opened.
    await page.mouse.move(600, 600)
    await page.mouse.wheel(0, 700)
    const top = await read()
    const [newest] = top.find(([, file]) => file === filled - 1) ?? [Number.NaN]
    expect(newest).toBeGreaterThan(0)
    const seen = new Map<number, number>()
    const note = (rows: readonly (readonly [number, number])[]) => {
      const wrong = rows.filter(
        ([place, file]) => place >= newest && file !== filled - 1 - (place - newest) && file >= 0,
      )
      expect(wrong).toEqual([])
      for (const [place, file] of rows) seen.set(place, file)
      return rows
    }
    note(top)
    const before = await heapBytes()
    // Everything in the long form, else a part that begins in each of 15 places.
    const height = await page.evaluate<number>('document.documentElement.scrollHeight')
    await page.setViewportSize({ width: 1280, height: isFull ? 6_000 : 900 })
    await page.evaluate(`(() => {
      window.frames_ = []
      let last = performance.now()
      const frame = (now) => {
        window.frames_.push(now - last)
        last = now
        requestAnimationFrame(frame)
      }
      requestAnimationFrame(frame)
    })()`)
    const step = isFull ? 5_500 : height / 15
    for (let at = 0; at < height; at += step) {
      await page.evaluate(`scrollTo(0, ${at})`)
      expect(note(await read()).length).toBeLessThan(250)
    }
    await page.keyboard.press('End')
    await expect.poll(async () => note(await read()).at(-1)?.[0]).toBeGreaterThan(filled)
    const files = [...seen.values()].filter((file) => file >= 0)
    expect(new Set(files).size).toBe(files.length)
    expect(files.length).toBeGreaterThan(isFull ? filled - 1 : 400)
    const frames = await page.evaluate<number[]>('window.frames_.toSorted((a, b) => a - b)')
    const share = (part: number) => Math.round(frames[Math.floor(frames.length * part)] ?? 0)
    console.info(
      `frames while scrolling: p50 ${share(0.5)}, p95 ${share(0.95)}, p99 ${share(0.99)} ms`,
    )
    await page.setViewportSize({ width: 1280, height: 900 })
    expect((await heapBytes()) - before).toBeLessThan(12_000_000)
    // By keyboard, to an entry and back to its place.
    await page.evaluate(`scrollTo(0, ${height / 2})`)
    const middle = await read()
    await page.locator('#content').focus()
    await page.keyboard.press('j')
    await expect.poll(() => page.evaluate<number>(focusedRow)).toBeGreaterThan(middle[0]?.[0] ?? 0)
    const place = await page.evaluate<number>(focusedRow)
    await page.keyboard.press('j')
    await expect.poll(() => page.evaluate<number>(focusedRow)).toBe(place + 1)
    await page.keyboard.press('k')
    await expect.poll(() => page.evaluate<number>(focusedRow)).toBe(place)
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/audit\/aud-/)
    await page
      .getByText(`file-${seen.get(place) ?? middle.find(([at]) => at === place)?.[1]}.ts`)
      .first()
      .waitFor()
    expect(await page.evaluate('scrollY')).toBeLessThan(200)
    await page.goBack()
    await expect.poll(async () => (await read()).some(([at]) => at === place)).toBe(true)
  })
})
