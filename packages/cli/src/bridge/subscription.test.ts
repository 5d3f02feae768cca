import { expect, test } from 'vitest'
import { AnswerLost, type Exchange, type Gateway, TakesNone } from './gateway.ts'
import { readMessage } from './message.ts'
import { subscribe } from './subscription.ts'

const key = 'io.modelcontextprotocol/subscriptionId'
const acknowledged = (notifications: object, eventId?: string) =>
  JSON.stringify({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications, _meta: { 'gatehouse/eventId': eventId } },
  })
const complete = JSON.stringify({ id: 's', result: { resultType: 'complete' } })
const event = (id: string) =>
  JSON.stringify({ method: 'notifications/wake', params: { _meta: { 'gatehouse/eventId': id } } })

/** A subscription at a service that says these things each time it is asked, and then goes. */
async function listen(notifications: object, ...rounds: (readonly string[] | Error | null)[]) {
  const sent: unknown[] = []
  const heard: string[] = []
  const ended = new AbortController()
  const gateway = {
    async exchange({ body }: Exchange, hear: (text: string) => Promise<void>) {
      const { params } = JSON.parse(String(body)) as { params: { notifications: unknown } }
      sent.push(params.notifications)
      const round = rounds.shift()
      if (rounds.length === 0) ended.abort()
      if (!round) throw new AnswerLost('gone')
      if (round instanceof Error) throw round
      for (const text of round) await hear(text)
      return { status: 200, session: null, text: '' }
    },
  }
  const params = {
    notifications,
    _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' },
  }
  const message = { jsonrpc: '2.0', id: 's', method: 'subscriptions/listen', params }
  const request = readMessage(Buffer.from(JSON.stringify(message)))
  if (request.kind !== 'request') throw new Error(request.kind)
  const way = { gateway: gateway as unknown as Gateway }
  const answer = await subscribe(way, request, ended.signal, async (text) => void heard.push(text))
  return { sent, heard, answer }
}

test('makes a subscription anew from the last event on, and acknowledges it once', async () => {
  const asked = { toolsListChanged: true, 'gatehouse/events': true }
  const { sent, heard, answer } = await listen(
    asked,
    [acknowledged(asked), event('evt-1'), event('evt-2'), complete],
    null,
    [acknowledged(asked), event('evt-3')],
  )
  expect(answer).toBeNull()
  const after = { ...asked, 'gatehouse/events': { after: 'evt-2' } }
  expect(sent).toEqual([asked, after, after])
  const changed = { method: 'notifications/tools/list_changed', params: { _meta: { [key]: 's' } } }
  expect(heard).toEqual([
    acknowledged(asked),
    event('evt-1'),
    event('evt-2'),
    JSON.stringify({ jsonrpc: '2.0', ...changed }),
    event('evt-3'),
  ])
})

test('says of all that the client hears of that it may have changed, once the service is back', async () => {
  const asked = {
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ['a:', 'b:'],
  }
  const { heard } = await listen(asked, [acknowledged(asked)], [acknowledged(asked)], [])
  const _meta = { [key]: 's' }
  expect(heard.slice(1).map((text) => JSON.parse(text))).toMatchObject([
    { method: 'notifications/prompts/list_changed', params: { _meta } },
    { method: 'notifications/resources/list_changed', params: { _meta } },
    { method: 'notifications/resources/updated', params: { uri: 'a:', _meta } },
    { method: 'notifications/resources/updated', params: { uri: 'b:', _meta } },
  ])
})

test('goes on from the first acknowledgement where nothing was told after it', async () => {
  const asked = { 'gatehouse/events': true }
  const { sent } = await listen(
    asked,
    [acknowledged(asked, 'evt-1')],
    [acknowledged(asked, 'evt-9')],
    [],
  )
  const after = { 'gatehouse/events': { after: 'evt-1' } }
  expect(sent).toEqual([asked, after, after])
})

test('knows after which event a subscription began that was told of nothing', async () => {
  const asked = { 'gatehouse/events': true }
  const params = { notifications: asked, _meta: { 'gatehouse/eventId': 'evt-0' } }
  const begun = JSON.stringify({ method: 'notifications/subscriptions/acknowledged', params })
  const { sent } = await listen(asked, [begun], null)
  expect(sent).toEqual([asked, { 'gatehouse/events': { after: 'evt-0' } }])
})

test('goes on where a service that stops, or is busy, takes nothing at the moment', async () => {
  const asked = { toolsListChanged: true }
  const taken = new TakesNone({ status: 503, session: null, text: '{}' })
  const { heard, answer } = await listen(asked, taken, [acknowledged(asked)], taken, [
    acknowledged(asked),
  ])
  expect(answer).toBeNull()
  expect(heard.map((text) => (JSON.parse(text) as { method: string }).method)).toEqual([
    'notifications/subscriptions/acknowledged',
    'notifications/tools/list_changed',
  ])
})

test('ends a subscription to nothing, and one that is refused', async () => {
  const nothing = await listen({}, [acknowledged({}), complete], null)
  expect(nothing.answer).toEqual({ status: 200, text: complete })
  const refusal = JSON.stringify({ id: 's', error: { code: -32602, message: 'no' } })
  const refused = await listen({ toolsListChanged: true }, [refusal], null)
  expect(refused.answer).toEqual({ status: 200, text: refusal })
})
