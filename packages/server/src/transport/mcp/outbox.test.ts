import { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { MemoryBudget } from '../../app/call/memory-budget.ts'
import { defaultGatewayLimits } from '../http/limits.ts'
import { Outbox } from './outbox.ts'

/** A socket on which each write waits for the test. */
const slowSocket = () => {
  const writes: ((error?: Error) => void)[] = []
  const raw = new Duplex({
    read: () => {},
    write: (_chunk, _encoding, done) => void writes.push(done),
  })
  raw.on('error', () => {})
  const ws = { readyState: 1, OPEN: 1, bufferedAmount: 0 }
  const memory = new MemoryBudget({ heldBytesMax: 4_000_000, heldBytesPerAgentMax: 1_000_000 })
  const outbox = new Outbox(
    { ws: ws as unknown as WebSocket, raw },
    defaultGatewayLimits,
    memory.hold('alpha', 0),
    0,
    () => {},
  )
  return { writes, raw, ws, outbox, memory }
}

const told = (outbox: Outbox, text = 'news'): Promise<boolean> =>
  new Promise((resolve) => outbox.send(text, resolve))

test('a text counts as written once the system has taken it', async () => {
  const { writes, outbox } = slowSocket()
  outbox.send('before')
  let answer: boolean | null = null
  const written = told(outbox).then((taken) => (answer = taken))
  outbox.flush()
  writes.shift()?.()
  await expect.poll(() => writes.length).toBe(1)
  expect(answer).toBeNull()
  writes.shift()?.()
  expect(await written).toBe(true)
})

test('a text whose socket is destroyed before it leaves was not written', async () => {
  const { raw, outbox } = slowSocket()
  const both = [told(outbox), told(outbox)]
  outbox.flush()
  raw.destroy()
  expect(await Promise.all(both)).toEqual([false, false])
})

test('a text for a connection that closed meanwhile was not written', async () => {
  const { ws, outbox } = slowSocket()
  const written = told(outbox)
  ws.readyState = 3
  outbox.flush()
  expect(await written).toBe(false)
})

test('what the peer has yet to read is charged to its agent until it has left', async () => {
  const { writes, ws, outbox, memory } = slowSocket()
  outbox.send('x'.repeat(100_000))
  expect(memory.used).toBe(200_000)
  outbox.flush()
  ws.bufferedAmount = 100_000
  outbox.send('small')
  outbox.flush()
  expect(memory.used).toBe(200_000)
  ws.bufferedAmount = 0
  while (writes.length > 0) {
    writes.shift()?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(memory.used).toBe(0)
  outbox.send('y'.repeat(100_000))
  expect(memory.used).toBe(200_000)
  outbox.close()
  expect(memory.used).toBe(0)
})
