import { expect, test } from 'vitest'
import type { Exchange, Gateway } from './gateway.ts'
import { LegacySession } from './legacy-session.ts'
import { readMessage } from './message.ts'

const requestOf = (method: string, params: object) => {
  const line = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 'own', method, params }))
  const request = readMessage(line)
  if (request.kind !== 'request') throw new Error(request.kind)
  return request
}

/** A service that forgets the session `s1` after a while, and what it was told in which session. */
const openService = () => {
  const told: unknown[] = []
  let sessions = 0
  let isForgotten = false
  const gateway = {
    wasReached: true,
    async exchange({ method, headers, body }: Exchange) {
      if (method !== 'POST') return { status: 405, session: null, text: '' }
      const { method: asked, params } = JSON.parse(String(body))
      const session = headers['mcp-session-id']
      if (asked === 'initialize') {
        sessions += 1
        const text = JSON.stringify({ result: { protocolVersion: '2025-11-25' } })
        return { status: 200, session: `s${sessions}`, text }
      }
      if (isForgotten && session === 's1') return { status: 404, session: null, text: '' }
      told.push([session, asked, params])
      return { status: 200, session: null, text: '{"result":{}}' }
    },
  }
  return {
    told,
    way: { gateway: gateway as unknown as Gateway },
    forget: () => (isForgotten = true),
  }
}

test('says in a session that is opened anew what the client wants to read of logs', async () => {
  const { told, way, forget } = openService()
  const ended = new AbortController()
  const { signal } = ended
  const session = new LegacySession(way, async () => {}, signal)
  const send = (method: string, params: object) => {
    const { line: body } = requestOf(method, params)
    return session.send({ body, signal }, true, async () => {})
  }
  await session.open(requestOf('initialize', {}), signal)
  const level = { level: 'warning' }
  session.keepLogLevel(requestOf('logging/setLevel', level))
  await send('logging/setLevel', level)
  forget()
  await send('tools/call', { name: 'a' })
  ended.abort()
  expect(told).toEqual([
    ['s1', 'logging/setLevel', level],
    ['s2', 'notifications/initialized', undefined],
    ['s2', 'logging/setLevel', level],
    ['s2', 'tools/call', { name: 'a' }],
  ])
})
