import type { FakeConnection } from '@gatehouse/testkit/fake-service'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import { openProxyKit, type ProxyKit } from './kit.ts'

/** A fake that can be heard: whoever listens is told by `speak`, and ended by `hangUp`. */
const openHeard = async () => {
  const listeners = new Set<{ hear: () => void; end: () => void }>()
  let begun = 0
  const passed = { behind: async () => {} }
  const proxy = await openProxyKit({
    adapter: (plain) => ({
      ...plain,
      async *sync(service, ...run) {
        yield* plain.sync(service as FakeConnection, ...run)
        await passed.behind()
      },
      async listen(_service, hear, signal) {
        begun += 1
        await new Promise<void>((end) => {
          const listener = { hear, end }
          listeners.add(listener)
          signal.addEventListener('abort', () => end(), { once: true })
          void Promise.resolve().then(() => signal.aborted && end())
        })
        for (const one of listeners) if (one.hear === hear) listeners.delete(one)
      },
    }),
    settings: { 'proxy.sync_every': 3_600_000 },
  })
  const look = async () => proxy.kit.clock.move(1_000)
  return {
    proxy,
    /** Awaited by each sync behind the last page that it reads. */
    passed,
    begun: () => begun,
    listening: () => listeners.size,
    speak: () => {
      for (const { hear } of listeners) hear()
    },
    hangUp: () => {
      for (const { end } of listeners) end()
    },
    /** Moves on by a second, again and again, until it holds. */
    later: (condition: () => boolean | Promise<boolean>) =>
      until(async () => {
        await look()
        return condition()
      }),
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  }
}

const entries = async (proxy: ProxyKit) => (await proxy.service()).replica_entries

test('what a service tells of is read long before the next sync is due', async () => {
  await using heard = await openHeard()
  const { proxy } = heard
  await heard.later(() => heard.listening() === 1)
  proxy.server.put('things', 'new', 'just now')
  await heard.later(async () => true)
  expect(await entries(proxy)).toBe(0)
  heard.speak()
  await heard.later(async () => (await entries(proxy)) === 1)
})

test('what is told while a sync runs is not lost in it', async () => {
  await using heard = await openHeard()
  const { proxy } = heard
  await heard.later(() => heard.listening() === 1)
  let told = false
  proxy.server.fault = ({ kind }) => {
    // Behind the last page of the run: only another run can bring it.
    if (kind === 'changes' && !told) {
      told = true
      setImmediate(() => {
        proxy.server.put('things', 'late', 'in between')
        heard.speak()
      })
    }
    return null
  }
  heard.speak()
  await heard.later(async () => (await entries(proxy)) === 1)
  expect(told).toBe(true)
})

test('a sync that is asked for while one runs, in the same millisecond as that one, comes right after it', async () => {
  await using heard = await openHeard()
  const { proxy } = heard
  const { app, clock } = proxy.kit
  await heard.later(() => heard.listening() === 1)
  const request = () => app.syncService(proxy.kit.operator(), { name: 'fake', full: false })
  let asking: Promise<unknown> | null = null
  heard.passed.behind = async () => {
    heard.passed.behind = async () => {}
    proxy.server.put('things', 'late', 'in between')
    asking = request()
    await asking
  }
  await request()
  const beganMs = clock.now()
  await heard.later(async () => (await entries(proxy)) === 1)
  expect(asking).not.toBeNull()
  // The next regular one is an hour away.
  expect(clock.now() - beganMs).toBeLessThan(60_000)
})

test('listening goes on through a sync, also one that reads everything anew', async () => {
  await using heard = await openHeard()
  const { proxy } = heard
  await heard.later(() => heard.listening() === 1)
  for (const full of [false, true]) {
    const { requests } = proxy.server
    await proxy.kit.app.syncService(proxy.kit.operator(), { name: 'fake', full })
    const states = new Set<string>()
    await heard.later(async () => {
      const { status } = await proxy.service()
      states.add(`${status} ${heard.listening()}`)
      return proxy.server.requests > requests && status === 'connected'
    })
    for (let n = 0; n < 20; n += 1) {
      proxy.kit.clock.move(1_000)
      await new Promise((resolve) => setImmediate(resolve))
      states.add(`connected ${heard.listening()}`)
    }
    expect([...states].filter((state) => !state.endsWith(' 1'))).toEqual([])
  }
})

test('what is told while everything is read anew is read right after', async () => {
  await using heard = await openHeard()
  const { proxy, passed } = heard
  await heard.later(() => heard.listening() === 1)
  const held: (() => void)[] = []
  passed.behind = () => new Promise((resolve) => held.push(resolve))
  await proxy.kit.app.syncService(proxy.kit.operator(), { name: 'fake', full: true })
  await heard.later(() => held.length > 0 && heard.listening() === 1)
  proxy.server.put('things', 'late', 'behind what was read')
  heard.speak()
  passed.behind = async () => {}
  held[0]?.()
  await heard.later(async () => (await entries(proxy)) === 1)
  expect(heard.begun()).toBe(2)
})

test('what is told while another node reads is read after it', async () => {
  await using heard = await openHeard()
  const { proxy } = heard
  await heard.later(() => heard.listening() === 1)
  const nowMs = proxy.kit.clock.now()
  const lease = { nowMs, untilMs: nowMs + 10_000 }
  await proxy.kit.storage.services.lease('fake', 'another node', lease)
  proxy.server.put('things', 'late', 'behind what it has passed')
  heard.speak()
  await heard.later(async () => (await entries(proxy)) === 1)
  expect(proxy.kit.clock.now() - nowMs).toBeGreaterThanOrEqual(10_000)
})

test('a service that speaks without end is read once a second', async () => {
  await using heard = await openHeard()
  const { proxy } = heard
  await heard.later(() => heard.listening() === 1)
  const before = proxy.server.requests
  for (let n = 0; n < 200; n += 1) {
    heard.speak()
    await new Promise((resolve) => setImmediate(resolve))
  }
  // No time went by, so there was one read at most, of one page.
  expect(proxy.server.requests - before).toBeLessThanOrEqual(1)
})

test('listening ends with the service, with its failure, and begins again once it works', async () => {
  await using heard = await openHeard()
  const { proxy } = heard
  await heard.later(() => heard.listening() === 1)
  proxy.server.fault = () => 'refuse'
  heard.speak()
  await heard.later(() => heard.listening() === 0)
  expect((await proxy.service()).status).toBe('degraded')
  proxy.server.fault = () => null
  await heard.later(() => heard.listening() === 1)
  await proxy.kit.app.disconnectService(proxy.kit.operator(), { name: 'fake', forget: false })
  await heard.later(() => heard.listening() === 0)
})

test('a service that ends it at once is asked again after the next sync, not at once', async () => {
  await using heard = await openHeard()
  const { proxy } = heard
  await heard.later(() => heard.listening() === 1)
  const before = heard.begun()
  heard.hangUp()
  for (let n = 0; n < 20; n += 1) {
    proxy.kit.clock.move(1_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(heard.begun()).toBe(before)
  await proxy.kit.app.syncService(proxy.kit.operator(), { name: 'fake', full: false })
  await heard.later(() => heard.begun() === before + 1)
})
