import { Duplex } from 'node:stream'
import { expect, test } from 'vitest'
import type { WebSocket } from 'ws'
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
  const outbox = new Outbox(
    { ws: ws as unknown as WebSocket, raw },
    defaultGatewayLimits,
    0,
    () => {},
  )
  return { writes, raw, ws, outbox }
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
