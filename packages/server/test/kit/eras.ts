import { until } from '@gatehouse/testkit/until'
import type { Gateway } from '../../src/transport/gateway/open-gateway.ts'
import { type EventReader, messagesIn, takeNext } from './event-reader.ts'
import type { Message, Peer } from './mcp-peer.ts'
import { ModernPeer } from './modern-peer.ts'
import { openHttpSession, openPeer } from './speakers.ts'

/** A call that is under way. */
export type Running = {
  readonly answer: Promise<Message | null>
  /** The client takes the call back, as its era has it. */
  cancel(): Promise<void>
  /** What came about the call before its answer. */
  told(): readonly Message[]
}

type Params = Record<string, unknown>

/** One form of MCP, as a client sees it that listens to everything. */
export type Era = AsyncDisposable & {
  request(method: string, params: Params): Promise<Message>
  begin(params: Params): Running
  /** The next notification of that method. */
  notified(method: string): Promise<Params>
}

const overWebSocket = async (gateway: Gateway, token: string): Promise<Era> => {
  const peer: Peer = await openPeer(gateway, token)
  const clientInfo = { name: 'probe', version: '1' }
  await peer.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
  let ids = 0
  return {
    request: (method, params) => peer.request(method, params),
    begin(params) {
      const id = `call-${++ids}`
      const before = peer.messages.length
      peer.send({ jsonrpc: '2.0', id, method: 'tools/call', params })
      let cancelled = false
      const answer = async () => {
        const isAnswer = (message: Message) => message.id === id
        await until(() => cancelled || peer.messages.some(isAnswer))
        return peer.messages.find(isAnswer) ?? null
      }
      return {
        answer: answer(),
        async cancel() {
          const requestId = id
          peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
          cancelled = true
        },
        told: () => peer.messages.slice(before).filter(({ method }) => method !== undefined),
      }
    },
    notified: (method) => takeNext(peer.messages, method),
    async [Symbol.asyncDispose]() {
      peer.ws.close()
      await peer.end()
    },
  }
}

/** The messages in an answer over HTTP, JSON or a stream. */
const read = async (response: Response): Promise<Message[]> => {
  const text = await response.text()
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return text === '' ? [] : [JSON.parse(text) as Message]
  return messagesIn(text)
}

const nextOn = async (stream: EventReader, method: string): Promise<Params> => {
  const { _meta, ...params } = await stream.next(method)
  return params
}

const overHttp = async (gateway: Gateway, token: string): Promise<Era> => {
  const { post, listen } = await openHttpSession(gateway, token)
  const stream = await listen()
  let ids = 0
  return {
    async request(method, params) {
      return (await read(await post({ id: ++ids, method, params }))).at(-1) ?? {}
    },
    begin(params) {
      const id = ++ids
      const messages: Message[] = []
      const answer = async () => {
        messages.push(...(await read(await post({ id, method: 'tools/call', params }))))
        return messages.at(-1) ?? null
      }
      return {
        answer: answer(),
        async cancel() {
          const params = { requestId: id }
          await (await post({ method: 'notifications/cancelled', params })).text()
        },
        told: () => messages.slice(0, -1),
      }
    },
    notified: (method) => nextOn(stream, method),
    [Symbol.asyncDispose]: () => stream.leave(),
  }
}

const overModern = async (gateway: Gateway, token: string): Promise<Era> => {
  const peer = new ModernPeer(gateway, token)
  const stream = await peer.listen({ toolsListChanged: true, 'gatehouse/events': true })
  await stream.next('notifications/subscriptions/acknowledged')
  return {
    request: (method, params) => peer.request(method, params),
    begin(params) {
      const leave = new AbortController()
      const messages: Message[] = []
      const answer = async () => {
        const { told, ...message } = await peer.request('tools/call', params, leave.signal)
        messages.push(...told)
        return message
      }
      return {
        answer: answer().catch((error: Error) => {
          if (error.name === 'AbortError') return null
          throw error
        }),
        cancel: async () => leave.abort(),
        told: () => messages,
      }
    },
    notified: (method) => nextOn(stream, method),
    [Symbol.asyncDispose]: () => stream.leave(),
  }
}

export const eras = [
  ['WebSocket', overWebSocket],
  ['Streamable HTTP up to 2025-11-25', overHttp],
  ['Streamable HTTP of 2026-07-28', overModern],
] as const
