import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { leavingPeer } from '../../../server/test/kit/leaving-peer.ts'
import { deliver } from './deliver.ts'
import { AnswerLost, Gateway, NotSent, TakesNone } from './gateway.ts'

const { signal } = new AbortController()
const what = { method: 'POST', headers: {}, body: '{}', signal } as const
const hear = () => Promise.resolve()

test('a message that comes before the end of a kept connection was heard was not sent, and may be sent again', async () => {
  await using peer = await leavingPeer()
  const locate = async () => new URL(`http://127.0.0.1:${peer.port}/mcp`)
  using gateway = new Gateway(locate, { read: async () => '0'.repeat(64) })
  expect(await gateway.exchange(what, hear)).toMatchObject({ status: 200, text: '{}' })
  // The connection is free again.
  await new Promise((resolve) => setImmediate(resolve))
  peer.leave()
  await expect(gateway.exchange(what, hear)).rejects.toThrow(NotSent)
})

/** A service that answers with these one after the other, and with the last again and again. */
const answering = async (...answers: readonly (readonly [status: number, body: string])[]) => {
  const left = [...answers]
  const server = createServer((_req, res) => {
    const [status, body] = (left.length > 1 ? left.shift() : left[0]) as [number, string]
    const type = body.startsWith('{') ? 'application/json' : 'text/html'
    res.writeHead(status, { 'content-type': type }).end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const locate = async () => new URL(`http://127.0.0.1:${port}/mcp`)
  const gateway = new Gateway(locate, { read: async () => '0'.repeat(64) })
  onTestFinished(() => {
    gateway[Symbol.dispose]()
    server.close()
  })
  return {
    exchange: () => gateway.exchange(what, hear),
    deliver: (repeats: boolean) => deliver({ gateway }, what, repeats, hear),
  }
}

const overloaded = (limit: number) =>
  JSON.stringify({ error: { data: { reason: 'overloaded', limit, retry_after_seconds: 1 } } })

test('a service that takes nothing from anybody is asked again, and one that keeps an agent to its limit is not', async () => {
  const busy = await answering([503, overloaded(0)], [503, overloaded(0)], [200, '{}'])
  await expect(busy.exchange()).rejects.toThrow(TakesNone)
  expect(await busy.deliver(false)).toMatchObject({ status: 200, text: '{}' })
  const limiting = await answering([503, overloaded(8)], [200, '{}'])
  expect(await limiting.deliver(true)).toMatchObject({ status: 503, text: overloaded(8) })
})

test('a proxy that says that no service is behind it may have lost the answer', async () => {
  const proxied = await answering([502, '<html>'], [200, '{}'])
  await expect(proxied.deliver(false)).rejects.toThrow(AnswerLost)
  const read = await answering([504, '<html>'], [200, '{}'])
  expect(await read.deliver(true)).toMatchObject({ status: 200 })
})

test('each of several messages that a new token meets is sent again with it', async () => {
  const [old, fresh] = ['0', '1'].map((digit) => digit.repeat(64))
  let inFile = old
  let waiting: (() => void)[] = []
  const server = createServer((req, res) => {
    const isFresh = req.headers.authorization === `Bearer ${fresh}`
    const answer = () =>
      res.writeHead(isFresh ? 200 : 401, { 'content-type': 'application/json' }).end('{}')
    if (isFresh) answer()
    else waiting.push(answer)
    if (waiting.length < 2) return
    inFile = fresh
    // The second is refused once the first has read the new token.
    for (const [n, refuse] of waiting.entries()) setTimeout(refuse, n * 50)
    waiting = []
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const locate = async () => new URL(`http://127.0.0.1:${port}/mcp`)
  using gateway = new Gateway(locate, { read: async () => inFile as string })
  onTestFinished(() => void server.close())
  const both = await Promise.all([1, 2].map(() => gateway.exchange(what, hear)))
  expect(both).toMatchObject([{ status: 200 }, { status: 200 }])
})
