import { expect, test } from 'vitest'
import { readEvents } from './event-stream.ts'
import { modernHeaders, readMessage } from './message.ts'
import { readLines } from './read-lines.ts'

async function* chunksOf(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const value of values) found.push(value)
  return found
}

test.each([1, 2, 3, 1_000])('reads lines that come in pieces of %i bytes', async (size) => {
  const lines = await all(readLines(chunksOf('äb\r\n\n\r\nc\nlonger than ten\nd', size), 10))
  expect(lines.map((line) => line?.toString() ?? null)).toEqual(['äb', 'c', null, 'd'])
})

test.each([1, 2, 3, 1_000])('reads events that come in pieces of %i bytes', async (size) => {
  const text = ': still here\n\nevent: message\ndata: {"a":"ä"}\n\ndata:1\r\nid: 7\r\n\r\ndata: cut'
  expect(await all(readEvents(chunksOf(text, size)))).toEqual(['{"a":"ä"}', '1'])
})

test('repeats in headers what a message says of itself, also what no header can hold', () => {
  const headersOf = (name: string) => {
    const params = { name, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } }
    const message = readMessage(
      Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })),
    )
    if (message.kind !== 'request') throw new Error(message.kind)
    return modernHeaders(message)
  }
  expect(headersOf('files__read')).toEqual({
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'files__read',
  })
  expect(headersOf('grün\n')['mcp-name']).toBe('=?base64?Z3LDvG4K?=')
  expect(headersOf('=?base64?YQ==?=')['mcp-name']).toBe('=?base64?PT9iYXNlNjQ/WVE9PT89?=')
})
