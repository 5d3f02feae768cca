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
  const refusing = { next: 0 }
  /** Sessions that are listened to, of which the first is not known any more; null where there is no stream. */
  const listening: { ids: string[] | null } = { ids: null }
  const gateway = {
    wasReached: true,
    async exchange({ method, headers, body, signal }: Exchange) {
      const session = headers['mcp-session-id']
      if (method !== 'POST') {
        if (!listening.ids || session === undefined) return { status: 405, session: null, text: '' }
        if (session === 's1') return { status: 404, session: null, text: '' }
        listening.ids.push(session)
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return { status: 200, session: null, text: '' }
      }
      const { method: asked, params } = JSON.parse(String(body))
      if (asked === 'initialize') {
        if (refusing.next-- > 0) return { status: 500, session: null, text: '' }
        sessions += 1
        const capabilities = {
          tools: { listChanged: true },
          prompts: {},
          resources: { listChanged: true },
        }
        const text = JSON.stringify({ result: { protocolVersion: '2025-11-25', capabilities } })
        return { status: 200, session: `s${sessions}`, text }
      }
      if (isForgotten && session === 's1') return { status: 404, session: null, text: '' }
      told.push([session, asked, params])
      if (params?.uri === 'refused:') return { status: 200, session: null, text: '{"error":{}}' }
      return { status: 200, session: null, text: '{"result":{}}' }
    },
  }
  return {
    told,
    listening,
    refusing,
    opened: () => sessions,
    way: { gateway: gateway as unknown as Gateway },
    forget: () => (isForgotten = true),
  }
}

const openSession = async () => {
  const service = openService()
  const ended = new AbortController()
  const { signal } = ended
  const heard: unknown[] = []
  const session = new LegacySession(
    service.way,
    async (text) => void heard.push(JSON.parse(text)),
    signal,
  )
  await session.open(requestOf('initialize', {}), signal)
  const ask = (method: string, params: object) =>
    session.ask(requestOf(method, params), signal, true, async () => {})
  return { ...service, ask, heard, end: () => ended.abort() }
}

test('says in a session that is opened anew what the client wants to read of logs', async () => {
  const { told, ask, forget, end } = await openSession()
  const level = { level: 'warning' }
  await ask('logging/setLevel', level)
  forget()
  await ask('tools/call', { name: 'a' })
  end()
  expect(told).toEqual([
    ['s1', 'logging/setLevel', level],
    ['s2', 'notifications/initialized', undefined],
    ['s2', 'logging/setLevel', level],
    ['s2', 'tools/call', { name: 'a' }],
  ])
})

test('subscribes anew to the resources that its client hears of, and says that all may have changed', async () => {
  const { told, ask, heard, forget, end } = await openSession()
  for (const uri of ['a:', 'b:', 'refused:']) await ask('resources/subscribe', { uri })
  await ask('resources/unsubscribe', { uri: 'a:' })
  forget()
  told.length = 0
  await ask('tools/call', { name: 'a' })
  await expect.poll(() => heard).toHaveLength(3)
  end()
  expect(told).toContainEqual(['s2', 'resources/subscribe', { uri: 'b:' }])
  expect(told).toHaveLength(3)
  expect(heard).toEqual(
    expect.arrayContaining([
      { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'b:' } },
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
      { jsonrpc: '2.0', method: 'notifications/resources/list_changed' },
    ]),
  )
})

test('opens one session for messages that meet the failure of the last renewal together', async () => {
  const { told, ask, forget, refusing, opened, end } = await openSession()
  forget()
  refusing.next = 2
  await ask('tools/call', { name: 'a' })
  refusing.next = 0
  told.length = 0
  await Promise.all([ask('tools/call', { name: 'b' }), ask('tools/call', { name: 'c' })])
  end()
  expect(opened()).toBe(2)
  expect(told).toHaveLength(3)
  expect(told).toEqual(
    expect.arrayContaining([
      ['s2', 'notifications/initialized', undefined],
      ['s2', 'tools/call', { name: 'b' }],
      ['s2', 'tools/call', { name: 'c' }],
    ]),
  )
})

test('listens on after a session that could not be opened anew at once, whether its client speaks or not', async () => {
  const { ask, listening, refusing, end } = await openSession()
  listening.ids = []
  refusing.next = 5
  // A message that is taken: the bridge listens from now on.
  await ask('tools/list', {})
  await expect.poll(() => listening.ids).toEqual(['s2'])
  end()
})
