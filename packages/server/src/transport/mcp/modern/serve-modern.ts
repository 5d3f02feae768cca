import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ReadableStreamDefaultReader } from 'node:stream/web'
import { capabilityName, type RpcId } from '@gatehouse/contract'
import { mirroredMismatch } from '@gatehouse/contract/mirrored-arguments'
import { createMcpHandler, type Server, type ServerEventBus } from '@modelcontextprotocol/server'
import type { UnreadableValue } from '../../../app/call/invoke.ts'
import type { Held } from '../../../app/call/memory-budget.ts'
import { describeThrown } from '../../http/describe-thrown.ts'
import { FaultyRequest, isId, isMembers } from '../../http/envelope.ts'
import type { Exchange } from '../../http/exchanges.ts'
import { refuse, sendJson } from '../../http/respond.ts'
import { eventStreamType } from '../event-stream.ts'
import { errorText } from '../peer.ts'
import { readClientSaid } from './client-said.ts'
import { serveListen } from './listen.ts'
import { inSession, type ModernDeps, type ModernRequest } from './modern-request.ts'
import { bounded, modernServer, withoutTasks } from './modern-server.ts'

/** Subscriptions are ours; the SDK checks their requests. */
const noBus: ServerEventBus = { publish: () => undefined, subscribe: () => () => undefined }

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

const headersOf = (req: IncomingMessage): Headers => {
  const headers = new Headers()
  for (const [name, field] of Object.entries(req.headers)) {
    // The token has done its work; the SDK has no use for it.
    if (typeof field === 'string' && name !== 'authorization') headers.set(name, field)
  }
  return headers
}

/** Sends the SDK's answer. Closing the stream cancels the request, as this era has it. */
const send = async (
  response: Response,
  res: ServerResponse,
  signal: AbortSignal,
): Promise<void> => {
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

/** Opens a subscription in place of the SDK's own. */
const listen = async (
  request: ModernRequest,
  { req, res }: Pick<Served, 'req' | 'res'>,
  id: RpcId,
): Promise<void> => {
  const { ids, log } = request.deps
  const requestId = ids.next('req')
  try {
    const call = await inSession(request, requestId)
    const refused = await serveListen(call, res, id, bounded(request))
    if (refused === null) return
    if ('refusal' in refused) refuse(req, res, refused.refusal)
    else if ('error' in refused) sendJson(res, 200, errorText(id, refused.error))
    else {
      const { code, message, data } = withoutTasks()
      sendJson(res, 400, errorText(id, { code, message, data }))
    }
  } catch (thrown) {
    const { error } = describeThrown(thrown, requestId, log)
    if (res.headersSent) res.destroy()
    else sendJson(res, 200, errorText(id, error))
  }
}

type HeaderMismatch = ReturnType<typeof mirroredMismatch>

const headerMismatchCode = -32_020

/** @SECURITY A call that a proxy has let through by its headers is the one that runs; upstream/features.test.ts. */
const mismatchIn = ({ deps, params }: ModernRequest, req: IncomingMessage): HeaderMismatch => {
  const { name, arguments: args } = params
  if (typeof name !== 'string') return null
  const mirrored = deps.app.mirroredArguments(capabilityName(name))
  return mirroredMismatch(mirrored, args, (header) => {
    const value = req.headers[header]
    return typeof value === 'string' ? value : undefined
  })
}

const refuseMismatch = (
  res: ServerResponse,
  id: unknown,
  { header, detail }: NonNullable<HeaderMismatch>,
): void => {
  const error = {
    code: headerMismatchCode,
    message: `Headers and body disagree: ${detail}`,
    data: { mismatch: { header, body: detail } },
  }
  sendJson(res, 400, errorText(isId(id) ? id : null, error))
}

type Served = {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly exchange: Exchange
  readonly held: Held
}

/** Serves one request of the modern era. */
export const serveModern = async (
  deps: ModernDeps,
  { req, res, exchange, held }: Served,
  value: unknown,
): Promise<void> => {
  const { signal } = exchange
  const { value: message, unreadable } = readMessage(value)
  const { id, method, params } = isMembers(message) ? message : {}
  const found: { mismatch: HeaderMismatch } = { mismatch: null }
  const members = isMembers(params) ? params : {}
  const client = readClientSaid(members)
  const request: ModernRequest = { deps, exchange, held, params: members, unreadable, client }
  const answering = (): Promise<Server> => {
    // The SDK has compared the other headers with the body by now.
    found.mismatch = method === 'tools/call' ? mismatchIn(request, req) : null
    if (found.mismatch) throw new Error('the headers say something else than the body')
    return modernServer(request, method)
  }
  const handler = createMcpHandler(answering, { legacy: 'reject', bus: noBus })
  const asked = new Request('http://gateway.invalid/mcp', {
    method: 'POST',
    headers: headersOf(req),
    signal,
  })
  const response = await handler.fetch(asked, { parsedBody: message })
  if (res.destroyed) return
  if (found.mismatch) return refuseMismatch(res, id, found.mismatch)
  const opens = method === 'subscriptions/listen' && isId(id)
  if (!opens || !response.headers.get('content-type')?.startsWith(eventStreamType))
    return send(response, res, signal)
  await response.body?.cancel()
  return listen(request, { req, res }, id)
}
