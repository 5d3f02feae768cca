import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { WebSocket } from 'ws'
import type { Gateway } from '../../src/transport/gateway/open-gateway.ts'
import { EventReader } from './event-reader.ts'
import { type Message, Peer } from './mcp-peer.ts'

/** Outcome of a call: the id of the request that waits, or the data or error that it answered. */
export type Answer = { readonly pending?: string; readonly data?: Record<string, unknown> }

/** One way for an agent to talk to the gateway; capabilities have their dotted names. */
export type Speaker = AsyncDisposable & {
  call(capability: string, args: object, signal?: AbortSignal): Promise<Answer>
}

const answerOf = (data: Record<string, unknown> | undefined): Answer =>
  data?.['status'] === 'pending_approval'
    ? { pending: String(data['approval_id']) }
    : { ...(data ? { data } : {}) }

const toolOf = (capability: string): string => capability.replace('.', '__')

export const rpcRequest = async (
  gateway: Gateway,
  token: string,
  method: string,
  params: object,
  signal?: AbortSignal,
): Promise<Message> => {
  const response = await fetch(`${gateway.url}/rpc`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    ...(signal ? { signal } : {}),
  })
  return (await response.json()) as Message
}

export const rpcSpeaker = async (gateway: Gateway, token: string): Promise<Speaker> => ({
  async call(capability, args, signal) {
    const params = { capability, arguments: args }
    const { result, error } = await rpcRequest(
      gateway,
      token,
      'capabilities.invoke',
      params,
      signal,
    )
    return answerOf(error ? error.data : ((result?.['data'] ?? result) as never))
  },
  async [Symbol.asyncDispose]() {},
})

export const openPeer = async (gateway: Gateway, token: string): Promise<Peer> => {
  const ws = new WebSocket(gateway.mcpUrl, { headers: { Authorization: `Bearer ${token}` } })
  const peer = new Peer(ws)
  await new Promise((resolve, reject) => {
    ws.once('open', resolve)
    ws.once('error', reject)
  })
  return peer
}

const toolAnswer = ({ result }: Message): Answer =>
  answerOf((result?.['structuredContent'] ?? result) as never)

export const webSocketSpeaker = async (gateway: Gateway, token: string): Promise<Speaker> => {
  const peer = await openPeer(gateway, token)
  return {
    call: async (capability, args) => toolAnswer(await peer.call(toolOf(capability), args)),
    async [Symbol.asyncDispose]() {
      peer.ws.close()
      await peer.end()
    },
  }
}

/** A session over Streamable HTTP, and what it may send. */
export const openHttpSession = async (gateway: Gateway, token: string) => {
  const post = (body: object, session?: string, signal?: AbortSignal): Promise<Response> =>
    fetch(`${gateway.url}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...(session === undefined ? {} : { 'Mcp-Session-Id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      ...(signal ? { signal } : {}),
    })
  const clientInfo = { name: 'probe', version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  const opened = await post({ id: 0, method: 'initialize', params })
  const session = opened.headers.get('mcp-session-id') ?? ''
  await opened.text()
  return {
    session,
    post: (body: object, signal?: AbortSignal) => post(body, session, signal),
    /** Opens the stream on which the session is told of events. */
    async listen(): Promise<EventReader> {
      const leave = new AbortController()
      const { body } = await fetch(`${gateway.url}/mcp`, {
        headers: {
          Authorization: `Bearer ${token}`,
          Accept: 'text/event-stream',
          'Mcp-Session-Id': session,
        },
        signal: leave.signal,
      })
      if (!body) throw new Error('the answer has no body')
      return new EventReader(body, leave)
    },
  }
}

export const httpSpeaker = async (gateway: Gateway, token: string): Promise<Speaker> => {
  const { post } = await openHttpSession(gateway, token)
  let id = 0
  return {
    async call(capability, args, signal) {
      const params = { name: toolOf(capability), arguments: args }
      const response = await post({ id: ++id, method: 'tools/call', params }, signal)
      return toolAnswer((await response.json()) as Message)
    },
    async [Symbol.asyncDispose]() {},
  }
}

export const modernSpeaker = async (gateway: Gateway, token: string): Promise<Speaker> => {
  const client = new ModernClient(
    { name: 'probe', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  const headers = { Authorization: `Bearer ${token}` }
  await client.connect(
    new ModernTransport(new URL(`${gateway.url}/mcp`), { requestInit: { headers } }),
  )
  return {
    async call(capability, args, signal) {
      const params = { name: toolOf(capability), arguments: args as Record<string, unknown> }
      const result = await client.callTool(params, signal ? { signal } : undefined)
      return toolAnswer({ result: result as Record<string, unknown> })
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

export const speakers = [
  ['JSON-RPC', rpcSpeaker],
  ['MCP over WebSocket', webSocketSpeaker],
  ['MCP over Streamable HTTP', httpSpeaker],
  ['MCP of the modern era', modernSpeaker],
] as const
