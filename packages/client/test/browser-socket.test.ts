import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { errors } from '../src/index.ts'
import { openSocket } from '../src/platform/browser.ts'
import { AgentKit } from './agent-kit.ts'
import { deferred } from './deferred.ts'

// A browser's WebSocket takes no headers. That of `ws` has the same interface, and talks to the real gate.

let kit: AgentKit
/** A failure is an event of Node here, which ends the process where nobody listens. */
class PageSocket extends WebSocket {
  constructor(url: string, protocol: string) {
    super(url, protocol)
    this.on('error', () => undefined)
  }
}

beforeAll(async () => {
  vi.stubGlobal('WebSocket', PageSocket)
  kit = await AgentKit.open()
})
afterAll(async () => {
  vi.unstubAllGlobals()
  await kit[Symbol.asyncDispose]()
})

const mcpUrl = () => `${kit.wire.url.replace('http', 'ws')}/mcp`

test('a page speaks to the gate with its token in the address', async () => {
  const [answer, closed] = [deferred<string>(), deferred<number | null>()]
  const listener = { text: answer.resolve, closed: closed.resolve }
  const socket = await openSocket(mcpUrl(), kit.token, listener)
  const call = { name: 'agent.whoami', arguments: {} }
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }
  expect(socket.send(JSON.stringify(request))).toBe(true)
  expect(JSON.parse(await answer.promise)).toMatchObject({
    result: { structuredContent: { name: 'alpha' } },
  })
  socket.close()
  expect(await closed.promise).toBeTypeOf('number')
  expect(socket.send('{}')).toBe(false)
})

test('a page is told that no connection came about', async () => {
  const listener = { text: () => undefined, closed: () => undefined }
  const error = await openSocket(mcpUrl(), '0'.repeat(64), listener).catch((thrown) => thrown)
  expect(error).toBeInstanceOf(errors.Unreachable)
  expect(error).toMatchObject({ sent: false })
})
