import { expect, test } from 'vitest'
import type { Exchange, Gateway } from './gateway.ts'
import { readMessage } from './message.ts'
import { MirroredCalls } from './mirrored-calls.ts'

const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }

const tools = [
  {
    name: 'notes__of_region',
    inputSchema: { properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
  },
]

/** A service that refuses calls without the header, and what it was sent. */
const openService = () => {
  const sent: unknown[] = []
  const gateway = {
    wasReached: true,
    async exchange({ headers, body }: Exchange) {
      const { method, params } = JSON.parse(String(body))
      sent.push([method, headers['Mcp-Param-Region']])
      const answer = (status: number, members: object) => ({
        ...{ status, session: null },
        text: JSON.stringify({ jsonrpc: '2.0', id: 1, ...members }),
      })
      if (method === 'tools/list') {
        expect(params._meta).toEqual(meta)
        return answer(200, { result: { tools } })
      }
      return headers['Mcp-Param-Region'] === undefined
        ? answer(400, { error: { code: -32_020, message: 'it is missing' } })
        : answer(200, { result: {} })
    },
  }
  return { sent, way: { gateway: gateway as unknown as Gateway } }
}

test('says arguments in headers once the service has refused a call without', async () => {
  const { sent, way } = openService()
  const calls = new MirroredCalls(way)
  const call = async (name: string, region: string) => {
    const params = { name, arguments: { region }, _meta: meta }
    const line = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    const request = readMessage(Buffer.from(line))
    if (request.kind !== 'request') throw new Error(request.kind)
    const { signal } = new AbortController()
    return (await calls.exchange(request, signal, false, async () => {})).status
  }
  expect(await call('notes__of_region', 'west')).toBe(200)
  expect(await call('notes__of_region', 'Zürich')).toBe(200)
  // Nothing that the list has explains this refusal: it is told as it is.
  expect(await call('notes__other', 'west')).toBe(400)
  expect(sent).toEqual([
    ['tools/call', undefined],
    ['tools/list', undefined],
    ['tools/call', 'west'],
    ['tools/call', '=?base64?WsO8cmljaA==?='],
    ['tools/call', undefined],
    ['tools/list', undefined],
    ['tools/call', undefined],
  ])
})
