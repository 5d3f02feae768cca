import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import { type Sender, ToolRequests } from './tool-requests.ts'

type Sent = { readonly id: number; readonly method: string; readonly params: object }

const open = (sender: Sender | null = null) => {
  const sent: Sent[] = []
  const passedOn: unknown[] = []
  const transport: Transport = {
    start: async () => {},
    send: async (message) => void sent.push(message as unknown as Sent),
    close: async () => {},
    onmessage: (message) => void passedOn.push(message),
  }
  const tools = new ToolRequests(transport, sender)
  const gone = new AbortController()
  const told: unknown[] = []
  const call = () =>
    tools.call({
      ...{ params: { name: 'say' }, signal: gone.signal },
      progress: (...one) => told.push(one),
    })
  const hear = (message: object) => transport.onmessage?.(message as JSONRPCMessage)
  const answer = (message: object, id: unknown = sent.at(-1)?.id) =>
    hear({ jsonrpc: '2.0', id, ...message })
  return { tools, sent, passedOn, told, gone, call, hear, answer }
}

test('gives each call the result that has its id, also where the server writes the id as text', async () => {
  const { call, sent, answer } = open()
  const calls = [call(), call()]
  answer({ result: { of: 'second' } }, String(sent[1]?.id))
  answer({ result: { of: 'first' } }, sent[0]?.id)
  expect(await Promise.all(calls)).toEqual([{ of: 'first' }, { of: 'second' }])
})

test('leaves what is of others to the client, and hears no second answer', async () => {
  const { call, answer, hear, passedOn, sent } = open()
  const called = call()
  const others = [
    { jsonrpc: '2.0', id: 0, result: {} },
    { jsonrpc: '2.0', id: sent[0]?.id, method: 'elicitation/create', params: {} },
    { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
    { jsonrpc: '2.0', method: 'notifications/progress' },
    { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'not read' } },
  ]
  for (const message of others) hear(message)
  answer({ result: { first: true } })
  answer({ result: { second: true } })
  expect(await called).toEqual({ first: true })
  expect(passedOn).toEqual(others)
})

test.each([
  ['a result that is none', { result: 'done' }, 'INVALID_RESULT'],
  ['neither', {}, 'INVALID_RESULT'],
  ['both', { result: {}, error: { code: 1, message: 'x' } }, 'INVALID_RESULT'],
  ['an error without words', { error: { code: 1 } }, 'INVALID_RESULT'],
  ['another protocol', { jsonrpc: '1.0', result: {} }, 'INVALID_RESULT'],
  ['an error', { error: { code: -32602, message: 'no such tool' } }, -32602],
])('a call that is answered with %s fails at once', async (_what, message, code) => {
  const { call, answer } = open()
  const called = call()
  answer(message)
  await expect(called).rejects.toMatchObject({ code })
})

test('tells progress of the call that it is of, where it has the form of one', async () => {
  const { call, hear, answer, told, sent } = open()
  const called = call()
  const tell = (params: object) =>
    hear({ jsonrpc: '2.0', method: 'notifications/progress', params })
  const token = sent[0]?.id
  tell({ progressToken: token, progress: 1, total: 2, message: 'half' })
  tell({ progressToken: token, progress: 'much' })
  tell({ progressToken: token, progress: 1, message: {} })
  answer({ result: {} })
  await called
  tell({ progressToken: token, progress: 2 })
  expect(told).toEqual([[1, 2, 'half']])
})

describe('a call that is waited for no longer', () => {
  test('is cancelled at the server', async () => {
    const { call, gone, sent, answer } = open()
    const called = call()
    gone.abort(new Error('enough'))
    await expect(called).rejects.toThrow('enough')
    expect(sent[1]).toMatchObject({
      method: 'notifications/cancelled',
      params: { requestId: sent[0]?.id, reason: 'the caller waits no longer' },
    })
    answer({ result: {} }, sent[0]?.id)
    await expect(call()).rejects.toThrow('enough')
    expect(sent).toHaveLength(2)
  })

  test('ends with the connection, and so does the next one', async () => {
    const { call, tools } = open()
    const calls = [call(), call()]
    tools.end()
    calls.push(call())
    for (const called of calls)
      await expect(called).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
  })
})

test('says who sends it in the versions in which each message does', async () => {
  const info = { name: 'gatehouse', version: '1' }
  const { call, sent, answer } = open({ version: '2026-07-28', info, capabilities: {} })
  const called = call()
  expect(sent[0]?.params).toEqual({
    name: 'say',
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': info,
      'io.modelcontextprotocol/clientCapabilities': {},
      progressToken: sent[0]?.id,
    },
  })
  answer({ result: {} })
  await called
})
