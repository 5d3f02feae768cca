import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ReadableStreamDefaultReader } from 'node:stream/web'
import { GatehouseError } from '@gatehouse/contract'
import {
  type CallToolResult,
  createMcpHandler,
  ProtocolError,
  type Tool as SdkTool,
  Server,
  type ServerEventBus,
} from '@modelcontextprotocol/server'
import type { App } from '../../app/app.ts'
import { Hold } from '../../app/call/hold.ts'
import type { UnreadableValue } from '../../app/call/invoke.ts'
import type { Held } from '../../app/call/memory-budget.ts'
import { describeThrown } from '../http/describe-thrown.ts'
import { FaultyRequest, isMembers } from '../http/envelope.ts'
import type { Exchange } from '../http/exchanges.ts'
import {
  callTool,
  invalidParams,
  listTools,
  type McpCall,
  type McpDeps,
  readToolCall,
  serverInstructions,
} from './peer.ts'
import { failedTool, type ToolResult } from './tools.ts'

/** How long a client may trust a list of tools that it was not told has changed. */
const listTtlMs = 5_000

/** The changes one agent may hear of, as the SDK's subscriptions want them. */
const createBus = (app: App, agent: string): ServerEventBus => ({
  publish: () => undefined,
  subscribe(listener) {
    const events = app.subscribeEvents(agent, (event) => {
      const told = event.type === 'tools.changed'
      if (told) listener({ kind: 'tools_list_changed' })
      return told
    })
    return () => events[Symbol.dispose]()
  },
})

const failed = (error: { code: number; message: string; data?: unknown }): ProtocolError =>
  new ProtocolError(error.code, error.message, error.data)

const within = (deps: McpDeps, result: ToolResult): ToolResult => {
  const size_bytes = JSON.stringify(result).length
  if (size_bytes <= deps.resultBytesMax) return result
  const limit_bytes = deps.resultBytesMax
  const error = new GatehouseError('ResultTooLarge', { size_bytes, limit_bytes })
  return failedTool(error, deps.names)
}

type ModernMessage = {
  readonly value: unknown
  readonly unreadable?: readonly UnreadableValue[] | undefined
}

/** The message as the SDK reads it, and what could not be read exactly of its arguments. */
const readMessage = (value: unknown): ModernMessage => {
  if (!(value instanceof FaultyRequest) || value.envelope.kind === 'invalid') return { value }
  const { kind: _kind, unreadable, ...message } = value.envelope
  return { value: { jsonrpc: '2.0', ...message }, unreadable }
}

/** A server of the SDK for one request; what the tools are and do is the same as everywhere. */
const serverFor = (
  deps: McpDeps,
  { exchange, held }: { readonly exchange: Exchange; readonly held: Held },
  { value, unreadable }: ModernMessage,
): Server => {
  const server = new Server(
    { name: 'gatehouse', title: 'Gatehouse', version: deps.app.version },
    {
      capabilities: { tools: { listChanged: true } },
      instructions: serverInstructions,
      cacheHints: { 'tools/list': { ttlMs: listTtlMs, cacheScope: 'private' } },
    },
  )
  const { actor, gone } = exchange
  const hold = new Hold(deps.stops)
  const call: McpCall = { actor, session_id: null, cancellation: exchange, held, hold, gone }
  const guarded = async <T>(work: (requestId: string) => Promise<T>): Promise<T> => {
    const requestId = deps.ids.next('req')
    try {
      return await work(requestId)
    } catch (thrown) {
      if (thrown instanceof ProtocolError) throw thrown
      throw failed(describeThrown(thrown, requestId, deps.log).error)
    }
  }
  server.setRequestHandler('tools/list', (request) =>
    guarded(async () => {
      const page = await listTools(deps, call, request.params?.cursor)
      if (page === null) throw failed(invalidParams('cursor', 'is none of ours'))
      const tools = page.entries.map(({ tool }) => tool as unknown as SdkTool)
      return page.nextCursor === null ? { tools } : { tools, nextCursor: page.nextCursor }
    }),
  )
  server.setRequestHandler('tools/call', (_request, ctx) =>
    guarded(async (requestId) => {
      // The arguments are those that were scanned and parsed once, not the SDK's copy of them.
      const read = readToolCall(isMembers(value) ? value['params'] : undefined, unreadable)
      if ('error' in read) throw failed(read.error)
      const { progressToken } = read
      const tell =
        progressToken === undefined
          ? undefined
          : (progress: object) => {
              const params = { progressToken, ...progress }
              void ctx.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
            }
      const outcome = await callTool(deps, call, requestId, read, tell)
      if ('error' in outcome) throw failed(outcome.error)
      return within(deps, outcome.result) as CallToolResult
    }),
  )
  return server
}

const copy = async (
  reader: ReadableStreamDefaultReader<Uint8Array>,
  res: ServerResponse,
): Promise<void> => {
  for (;;) {
    const { done, value } = await reader.read()
    if (done || res.destroyed) return
    if (res.write(value)) continue
    await new Promise<void>((resolve) => {
      res.once('drain', resolve)
      res.once('close', resolve)
    })
  }
}

/** Serves one request of the modern era. Closing the stream cancels it, as that era has it. */
export const serveModern = async (
  deps: McpDeps,
  served: {
    readonly req: IncomingMessage
    readonly res: ServerResponse
    readonly exchange: Exchange
    readonly held: Held
  },
  value: unknown,
): Promise<void> => {
  const { req, res, exchange } = served
  const { signal } = exchange
  const message = readMessage(value)
  const handler = createMcpHandler(() => serverFor(deps, served, message), {
    legacy: 'reject',
    bus: createBus(deps.app, exchange.actor.name),
  })
  const headers = new Headers()
  for (const [name, field] of Object.entries(req.headers)) {
    // The token has done its work; the SDK has no use for it.
    if (typeof field === 'string' && name !== 'authorization') headers.set(name, field)
  }
  const request = new Request('http://gateway.invalid/mcp', { method: 'POST', headers, signal })
  const response = await handler.fetch(request, { parsedBody: message.value })
  if (res.destroyed) return
  res.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body) {
    const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>
    // Not left to the request's own signal: a request that is collected passes no abort on.
    signal.addEventListener('abort', () => void reader.cancel().catch(() => {}), { once: true })
    await copy(reader, res)
    if (res.destroyed) await reader.cancel()
  }
  res.end()
}
