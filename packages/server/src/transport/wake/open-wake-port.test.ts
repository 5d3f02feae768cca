import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isDeepStrictEqual } from 'node:util'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import type { WakeInput, WakeVerdict } from '../../app/time/wakes.ts'
import { bindLoopback, openWakePort, type WakePort } from './open-wake-port.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

const opened = async (verdict: WakeVerdict = { ok: true }, nowMs?: () => number) => {
  const woken: WakeInput[] = []
  const app = { wakeAgent: async (input: WakeInput) => (woken.push(input), verdict) }
  let own: Socket | undefined
  const bind = async (port: number) => (own = await bindLoopback(port))
  const wake = await openWakePort({ app, log: silent, port: 0, bind, ...(nowMs ? { nowMs } : {}) })
  const socket = createSocket('udp4')
  const answers: unknown[] = []
  socket.on('message', (bytes) => void answers.push(JSON.parse(bytes.toString())))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    wake,
    /** The port's own socket: what is sent from it has the port as its source. */
    own: own as Socket,
    woken,
    socket,
    answers,
    async [Symbol.asyncDispose]() {
      socket.close()
      await wake[Symbol.asyncDispose]()
    },
  }
}

const send = (socket: Socket, wake: WakePort, bytes: string | Uint8Array): Promise<void> =>
  new Promise((resolve) => socket.send(bytes, wake.port, '127.0.0.1', () => resolve()))

const wakeOf = (over: object = {}) => JSON.stringify({ agent: 'alpha', ...over })

test('a wake with an id is answered, one without is not', async () => {
  await using here = await opened()
  await send(here.socket, here.wake, wakeOf({ reason: 'mail', data: { n: [1] }, id: 'one' }))
  await until(() => here.answers.length === 1)
  expect(here.answers).toEqual([{ id: 'one', ok: true }])
  await send(here.socket, here.wake, wakeOf())
  await send(here.socket, here.wake, wakeOf({ id: '' }))
  await until(() => here.answers.length === 2)
  expect(here.answers[1]).toEqual({ id: '', ok: true })
  expect(here.woken).toEqual([
    { agent: 'alpha', reason: 'mail', data: { n: [1] } },
    { agent: 'alpha' },
    { agent: 'alpha' },
  ])
  expect(here.wake.counts()).toMatchObject({ received: 3, woken: 3, dropped: 0, answered: 2 })
})

test('a wake that is sent again is answered again, and wakes once', async () => {
  let ms = 0
  await using here = await opened({ ok: true }, () => ms)
  for (let n = 0; n < 3; n += 1) await send(here.socket, here.wake, wakeOf({ id: 'one' }))
  await until(() => here.answers.length === 3)
  expect(here.answers).toEqual(Array.from({ length: 3 }, () => ({ id: 'one', ok: true })))
  expect(here.woken).toEqual([{ agent: 'alpha' }])
  expect(here.wake.counts()).toMatchObject({ received: 3, woken: 1, repeated: 2 })
  // Another agent, another sender and a later time are no repetitions.
  await send(here.socket, here.wake, JSON.stringify({ agent: 'beta', id: 'one' }))
  const other = createSocket('udp4')
  await send(other, here.wake, wakeOf({ id: 'one' }))
  await until(() => here.wake.counts().woken === 3)
  other.close()
  ms = 15_000
  await send(here.socket, here.wake, wakeOf({ id: 'one' }))
  await until(() => here.wake.counts().woken === 4)
  expect(here.wake.counts().repeated).toBe(2)
  // What is known is bounded: the oldest are forgotten.
  for (let n = 0; n < 1_000; n += 1) {
    await send(here.socket, here.wake, wakeOf({ id: `more ${n}` }))
    // One by one, since a full buffer of the system loses datagrams.
    await until(() => here.wake.counts().woken === 5 + n)
  }
  await send(here.socket, here.wake, wakeOf({ id: 'one' }))
  await until(() => here.wake.counts().woken === 1_005)
  expect(here.wake.counts().repeated).toBe(2)
})

test('an agent that cannot be woken is an answer too', async () => {
  await using here = await opened({ ok: false, error: 'no such agent' })
  await send(here.socket, here.wake, wakeOf({ id: 'x' }))
  await until(() => here.answers.length === 1)
  expect(here.answers).toEqual([{ id: 'x', ok: false, error: 'no such agent' }])
  expect(here.wake.counts().woken).toBe(0)
})

const nested = (depth: number): object => (depth === 0 ? {} : { a: nested(depth - 1) })

test('whatever is no valid wake is dropped, counted and never answered', async () => {
  await using here = await opened()
  const padded = (size: number) => {
    const text = wakeOf({ id: 'x', reason: '' })
    return text.replace('""', `"${'a'.repeat(size - text.length)}"`)
  }
  const rubbish: (string | Uint8Array)[] = [
    '',
    'wake alpha',
    '{"id":"x"}',
    '{"id":"x","ok":true}',
    '[]',
    'null',
    JSON.stringify([{ agent: 'alpha', id: 'x' }]),
    wakeOf({ id: 'x'.repeat(65) }),
    wakeOf({ id: 7 }),
    wakeOf({ id: 'x', more: 1 }),
    wakeOf({ id: 'x', data: [] }),
    wakeOf({ id: 'x', agent: 7 }),
    wakeOf({ id: 'x', agent: 'a'.repeat(64) }),
    '{"agent":"alpha","agent":"beta","id":"x"}',
    '{"agent":"alpha","id":"x","__proto__":{}}',
    wakeOf({ id: 'x', data: nested(8) }),
    padded(1_201),
    Uint8Array.from([...Buffer.from('{"agent":"alpha","id":"x","reason":"'), 0xff, 0x22, 0x7d]),
  ]
  for (const bytes of rubbish) await send(here.socket, here.wake, bytes)
  await until(() => here.wake.counts().received === rubbish.length)
  expect(here.wake.counts()).toMatchObject({ dropped: rubbish.length, woken: 0, answered: 0 })
  expect(here.woken).toEqual([])
  // Messages just inside the bounds are taken.
  await send(here.socket, here.wake, padded(1_200))
  await send(here.socket, here.wake, wakeOf({ id: 'y'.repeat(64), data: nested(6) }))
  await until(() => here.answers.length === 2)
})

test('what claims to come from the port itself is never looked at, so nothing goes round', async () => {
  await using here = await opened()
  const { own, wake } = here
  for (const text of [wakeOf({ id: 'x' }), '{"id":"x"}', '{"id":"x","ok":true}', 'x'])
    for (let n = 0; n < 5; n += 1) await send(own, wake, text)
  await until(() => here.wake.counts().received === 20)
  expect(here.wake.counts()).toMatchObject({ dropped: 20, woken: 0, answered: 0 })
  // And an answer that is sent back to it is no wake.
  await send(here.socket, here.wake, wakeOf({ id: 'y' }))
  await until(() => here.answers.length === 1)
  for (const answer of here.answers) await send(here.socket, here.wake, JSON.stringify(answer))
  await until(() => here.wake.counts().received === 22)
  expect(here.wake.counts()).toMatchObject({ answered: 1, dropped: 21 })
})

test('answers are bounded in size and number, wakes are not lost for it', async () => {
  let ms = 0
  await using here = await opened({ ok: true }, () => ms)
  await send(here.socket, here.wake, wakeOf({ id: '\u0001'.repeat(64) }))
  await until(() => here.wake.counts().unanswered === 1)
  for (let n = 0; n < 150; n += 1) await send(here.socket, here.wake, wakeOf({ id: `${n}` }))
  await until(() => here.wake.counts().woken === 151)
  expect(here.wake.counts()).toMatchObject({ answered: 100, unanswered: 51 })
  ms = 1_000
  await send(here.socket, here.wake, wakeOf({ id: 'later' }))
  await until(() => here.wake.counts().answered === 101)
})

test('it cannot be shared, and listens on the loopback address only', async () => {
  await using here = await opened()
  const again = openWakePort({
    app: { wakeAgent: async () => ({ ok: true }) },
    log: silent,
    port: here.wake.port,
  })
  await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE' })
  // The port is free on every other address.
  const other = createSocket('udp4')
  other.bind(here.wake.port, '127.0.0.2')
  await once(other, 'listening')
  await new Promise<void>((resolve) =>
    other.send(wakeOf({ id: 'x' }), here.wake.port, '127.0.0.1', () => resolve()),
  )
  await until(() => here.wake.counts().received === 1)
  expect(here.wake.counts().woken).toBe(0)
  other.close()
})

test('a flood of garbage costs little, and a wake still comes through after it', async () => {
  let ms = 0
  await using here = await opened({ ok: true }, () => ms)
  const garbage = [Buffer.alloc(1_200, 0x7b), Buffer.alloc(9_000, 0x41), Buffer.from('{"agent"')]
  const before = process.cpuUsage()
  for (let n = 0; n < 5_000; n += 1) await send(here.socket, here.wake, garbage[n % 3] as Buffer)
  const { user, system } = process.cpuUsage(before)
  // Sending it is in this figure too.
  expect((user + system) / 1_000 / 5_000).toBeLessThan(1)
  await until(() => here.wake.counts().received > 0)
  // A full buffer of the system loses datagrams: a client tries again.
  await until(async () => {
    ms += 1_000
    await send(here.socket, here.wake, wakeOf({ id: 'x' }))
    return here.answers.length > 0
  })
  const { received, dropped, woken, repeated } = here.wake.counts()
  expect(woken).toBeGreaterThan(0)
  expect(dropped).toBe(received - woken - repeated)
  expect(here.answers.every((answer) => isDeepStrictEqual(answer, { id: 'x', ok: true }))).toBe(
    true,
  )
})
