import { GatehouseError } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { type Envelope, GateLink } from '../../gates/gate-link.ts'
import { createClock } from '../../platform/clock.ts'
import type { ResourceWatch } from '../../ports/upstream.ts'
import { answerServers, serversElsewhere } from './foreign-calls.ts'

/** The ends of two gate processes. */
const two = () => {
  const deliver = (envelope: Envelope): void =>
    links[Number(envelope.to)]?.receive(structuredClone(envelope))
  const links = [0, 1].map(
    (index) => new GateLink({ index, count: 2, send: (one) => queueMicrotask(() => deliver(one)) }),
  )
  return links as [GateLink, GateLink]
}

const input = { upstream: 'notes', agent: 'ada', uri: 'notes://1' }

/** A server of which one watch is kept. */
const watched = () => {
  const [first, second] = two()
  const seen = { changed: () => {}, end: () => {}, disposed: 0 }
  const watch = async (
    { uri }: typeof input,
    _signal: AbortSignal,
    changed: () => void,
  ): Promise<ResourceWatch> => {
    if (uri !== input.uri)
      throw new GatehouseError('UpstreamFailed', { upstream: 'notes', detail: 'no such resource' })
    seen.changed = changed
    return {
      ended: new Promise<void>((resolve) => {
        seen.end = resolve
      }),
      [Symbol.asyncDispose]: async () => void (seen.disposed += 1),
    }
  }
  const deps = { clock: createClock(0), secrets: { scrub: <T>(value: T): T => value } }
  answerServers(first, deps, { watch, call: () => Promise.reject(new Error('not called')) })
  return { first, seen, servers: serversElsewhere(second) }
}

test('a watch of another process hears of changes, and ends with its server', async () => {
  const { seen, servers } = watched()
  let changes = 0
  const watch = await servers.watch(input, new AbortController().signal, () => void (changes += 1))
  seen.changed()
  seen.changed()
  await expect.poll(() => changes).toBe(2)
  seen.end()
  await watch.ended
  await expect.poll(() => seen.disposed).toBe(1)
})

test('a watch that is left is left at the server, and one that fails says why', async () => {
  const { first, seen, servers } = watched()
  const watch = await servers.watch(input, new AbortController().signal, () => {})
  await watch[Symbol.asyncDispose]()
  await watch.ended
  await expect.poll(() => seen.disposed).toBe(1)

  await expect(
    servers.watch({ ...input, uri: 'notes://2' }, new AbortController().signal, () => {}),
  ).rejects.toMatchObject({ type: 'UpstreamFailed', facts: { detail: 'no such resource' } })
  const over = AbortSignal.abort(new Error('over'))
  await expect(servers.watch(input, over, () => {})).rejects.toThrow('over')

  // Of a process that is gone, too.
  await servers.watch(input, new AbortController().signal, () => {})
  first.lost(1)
  await expect.poll(() => seen.disposed).toBe(2)
})

test('a request that ends before it watches ends the watch', async () => {
  const [first, second] = two()
  const asked: AbortSignal[] = []
  answerServers(
    first,
    { clock: createClock(0), secrets: { scrub: <T>(value: T): T => value } },
    {
      call: () => Promise.reject(new Error('not called')),
      watch: (_input, signal) => {
        asked.push(signal)
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason))
        })
      },
    },
  )
  const leaving = new AbortController()
  const watching = serversElsewhere(second).watch(input, leaving.signal, () => {})
  watching.catch(() => {})
  await expect.poll(() => asked).toHaveLength(1)
  leaving.abort(new Error('no more'))
  await expect(watching).rejects.toThrow('no more')
  await expect.poll(() => asked[0]?.aborted).toBe(true)
})

test('a watch whose asker left while the server was asked for it is left at the server', async () => {
  const [first, second] = two()
  const leaving = new AbortController()
  let disposed = 0
  answerServers(
    first,
    { clock: createClock(0), secrets: { scrub: <T>(value: T): T => value } },
    {
      call: () => Promise.reject(new Error('not called')),
      watch: async (_input, signal) => {
        const left = new Promise((resolve) => signal.addEventListener('abort', resolve))
        leaving.abort(new Error('no more'))
        await left
        return {
          ended: new Promise<void>(() => undefined),
          [Symbol.asyncDispose]: async () => void (disposed += 1),
        }
      },
    },
  )
  const watching = serversElsewhere(second).watch(input, leaving.signal, () => {})
  await expect(watching).rejects.toThrow('no more')
  await expect.poll(() => disposed).toBe(1)
})
