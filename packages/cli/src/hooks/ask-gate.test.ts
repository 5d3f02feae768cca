import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { askGate, readCall } from './ask-gate.ts'

async function* bytes(...chunks: readonly Uint8Array[]) {
  for (const chunk of chunks) yield Buffer.from(chunk)
}

test('reads a call that comes in pieces, and none that is no UTF-8 or too long', async () => {
  const text = '{"tool_input":{"command":"echo ü"}}'
  const whole = Buffer.from(text)
  const at = whole.indexOf(0xbc)
  expect(await readCall(bytes(whole.subarray(0, at), whole.subarray(at)))).toEqual({
    text,
    given: { tool_input: { command: 'echo ü' } },
  })
  await expect(readCall(bytes(Buffer.from([0x7b, 0xff, 0x7d])))).rejects.toThrow('no JSON object')
  const piece = Buffer.alloc(16 * 1024 * 1024, 0x20)
  await expect(readCall(bytes(piece, piece, whole))).rejects.toThrow('in more than 33554432 bytes')
})

test('gives up before the client does', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const { signal } = new AbortController()
  const question = { client: 'codex', url, token: 't', call: '{}', signal, waitMs: 20 } as const
  await expect(askGate(question)).rejects.toThrow('Nobody decided within 0 s.')
  silent.closeAllConnections()
  silent.close()
})
