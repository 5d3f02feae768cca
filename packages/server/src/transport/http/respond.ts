import type { IncomingMessage, ServerResponse } from 'node:http'
import { rpcCodes } from '@gatehouse/contract'
import type { HttpResponse } from './http-response.ts'

/** A refusal by the front: a status, and the JSON-RPC error its body carries. */
export type Refusal = {
  readonly status: number
  readonly code: number
  readonly message: string
  readonly data?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, string>>
}

/** How long a refused peer may go on sending what nobody reads, so that it sees the answer. */
const lingerMs = 500
const lingerBytes = 16 * 1024 * 1024

export const refusalBody = (refusal: Refusal): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: null,
    error: {
      code: refusal.code,
      message: refusal.message,
      ...(refusal.data ? { data: refusal.data } : {}),
    },
  })

/** Head and body leave in one write. */
export const sendJson = (
  res: HttpResponse,
  status: number,
  body: string,
  headers?: Readonly<Record<string, string>>,
): void => {
  const head = [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(Buffer.byteLength(body)),
  ]
  for (const name in headers) head.push(name, headers[name] ?? '')
  res.writeHead(status, head)
  res.end(body)
}

export const sendEmpty = (res: HttpResponse, status: number): void => {
  res.writeHead(status, status === 204 ? [] : ['Content-Length', '0'])
  res.end()
}

/**
 * Refuses a request whose body nobody reads. Such a connection is closed, but not at once: a peer that
 * is still sending would get a reset instead of the reason. What it sends meanwhile is dropped.
 */
export const refuse = (req: IncomingMessage, res: ServerResponse, refusal: Refusal): void => {
  const body = refusalBody(refusal)
  if (!mayHaveBody(req)) {
    sendJson(res, refusal.status, body, refusal.headers)
    return
  }
  res.writeHead(refusal.status, {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...refusal.headers,
  })
  res.write(body)
  let left = lingerBytes
  const timer = setTimeout(() => req.socket.destroy(), lingerMs)
  timer.unref()
  req.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) req.socket.destroy()
  })
  req.once('end', () => res.end())
  req.once('error', () => undefined)
  req.once('close', () => clearTimeout(timer))
}

const mayHaveBody = (req: IncomingMessage): boolean =>
  req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0'

const invalid = (status: number, detail: string, headers?: Refusal['headers']): Refusal => ({
  status,
  code: rpcCodes.invalidRequest,
  message: `Invalid request: ${detail}`,
  ...(headers ? { headers } : {}),
})

/** Nobody is served at such a moment, whatever the limits of the agent. */
const noCalls = { limit: 0, window: 'at once' } as const

/** Every refusal of the front that needs no facts. */
export const refusals = {
  duplicateHeader: invalid(400, 'a header that may stand once stands twice'),
  tooManyHeaders: invalid(431, 'there are too many headers'),
  noHost: invalid(400, 'there is no Host header'),
  foreignHost: invalid(
    421,
    'this server does not answer under that Host; see server.allowed_hosts',
  ),
  foreignOrigin: invalid(403, 'pages of that Origin may not call this server'),
  notFound: {
    status: 404,
    code: rpcCodes.methodNotFound,
    message: 'There is nothing at this path: agents use /mcp and /rpc.',
  },
  postOnly: invalid(405, 'use POST', { Allow: 'POST' }),
  mcpMethods: invalid(405, 'use POST, or GET and DELETE with Mcp-Session-Id', {
    Allow: 'POST, GET, DELETE',
  }),
  getOnly: invalid(405, 'use GET', { Allow: 'GET, HEAD' }),
  badUpgrade: invalid(426, 'upgrade with "Connection: Upgrade" and "Upgrade: websocket"', {
    Upgrade: 'websocket',
  }),
  notJson: invalid(415, 'the body must be application/json'),
  encoded: invalid(415, 'the body must not be encoded'),
  tooLarge: invalid(413, 'the body is too large'),
  twoTokens: invalid(400, 'name the token once, in the header or in the address'),
  brokenBody: invalid(400, 'the body ended early'),
  overloaded: {
    status: 503,
    code: rpcCodes.rateLimited,
    message: 'The server is busy and takes no new calls: try again shortly.',
    data: { reason: 'overloaded', retry_after_seconds: 1, ...noCalls },
    headers: { 'Retry-After': '1' },
  },
  stopping: {
    status: 503,
    code: rpcCodes.rateLimited,
    message: 'The server is stopping.',
    data: { reason: 'overloaded', retry_after_seconds: 5, ...noCalls },
    headers: { 'Retry-After': '5', Connection: 'close' },
  },
} as const satisfies Record<string, Refusal>

/** The bodies of an agent's calls may take so many bytes of the heap, and others leave no more. */
export const memoryTaken = (bytesMax: number): Refusal => ({
  status: 503,
  code: rpcCodes.rateLimited,
  message: 'The server is busy with large requests: send fewer at once, and try again shortly.',
  data: {
    reason: 'overloaded',
    retry_after_seconds: 1,
    limit: bytesMax,
    unit: 'bytes',
    window: 'at once',
  },
  headers: { 'Retry-After': '1' },
})

export const tooManyConnections = (connectionsMax: number): Refusal => ({
  status: 429,
  code: rpcCodes.rateLimited,
  message: `This agent has too many open connections: at most ${connectionsMax}.`,
  data: {
    reason: 'overloaded',
    retry_after_seconds: 1,
    limit: connectionsMax,
    window: 'at once',
  },
  headers: { 'Retry-After': '1' },
})

export const unauthenticated = (detail: string): Refusal => ({
  status: 401,
  code: rpcCodes.authenticationFailed,
  message: `Authentication failed: ${detail}`,
  headers: { 'WWW-Authenticate': 'Bearer' },
})

export const tooManyFailures: Refusal = {
  status: 429,
  code: rpcCodes.authenticationFailed,
  message: 'Authentication failed too often from this address.',
  data: { retry_after_seconds: 60 },
  headers: { 'Retry-After': '60' },
}
