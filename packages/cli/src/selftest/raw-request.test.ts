import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { HostileSocket } from './hostile-socket.ts'
import type { Run } from './installation.ts'
import { raw, request } from './raw-request.ts'

const refusal = (limit: number): string =>
  JSON.stringify({ error: { data: { reason: 'overloaded', retry_after_seconds: 0, limit } } })

/** A gateway that gives these answers in turn, and the last one from then on. */
const answering = async (...answers: readonly (readonly [status: number, body: string])[]) => {
  let asked = 0
  const next = () => answers[Math.min(asked++, answers.length - 1)] ?? [500, '']
  const server = createServer((_, response) => {
    const [status, body] = next()
    response.writeHead(status, { 'content-length': body.length }).end(body)
  })
  server.on('upgrade', (_, socket) => {
    socket.end(`HTTP/1.1 ${next()[0]} x\r\nContent-Length: 0\r\n\r\n`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const run = { gateway_url: `http://127.0.0.1:${port}` } as Run
  return { run, asked: () => asked }
}

test('an attack is sent again while the service takes no calls, and its answer is the one after that', async () => {
  const { run, asked } = await answering([503, refusal(0)], [503, refusal(0)], [415, 'no'])
  expect(await raw(run, request({}, '{}'))).toMatchObject({ status: 415, body: 'no' })
  expect(asked()).toBe(3)
  const upgrades = await answering([503, ''], [401, ''])
  expect(await HostileSocket.open(upgrades.run, 'token')).toBe(401)
  expect(upgrades.asked()).toBe(2)
})

test('a refusal that keeps a caller to a limit of its own is the answer', async () => {
  const { run, asked } = await answering([503, refusal(1_000)], [200, 'yes'])
  expect((await raw(run, request({}, '{}'))).status).toBe(503)
  expect(asked()).toBe(1)
})
