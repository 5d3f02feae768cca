import { once } from 'node:events'
import type { IncomingMessage, RequestListener, Server, ServerOptions } from 'node:http'
import { Server as SecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { GatehouseError } from '@gatehouse/contract'
import { awaitFirstBytes } from '../../connections/first-bytes.ts'
import { createClientAddress } from '../http/client-address.ts'
import { HeadlessSockets } from '../http/headless-sockets.ts'
import { defaultGatewayLimits, keepAliveMs } from '../http/limits.ts'
import { reachableName } from '../http/reachable-name.ts'
import { readHeaders } from '../http/read-headers.ts'
import { problemResponse } from './problem.ts'

const { headersMax, headersTimeoutMs, requestTimeoutMs } = defaultGatewayLimits
/** People and their tools, not agents: far more than they need. */
const connectionsMax = 1_000

export type RestServerOptions = {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** How long `close` lets running requests finish. */
  readonly graceMs?: number
  readonly ids: { next(prefix: 'req'): string }
  /** Proxies whose word on the client's address counts. */
  readonly trustedProxies?: readonly string[]
}

export interface RestServer extends AsyncDisposable {
  /** Without the scheme: host and port. */
  readonly address: string
  close(): Promise<void>
}

/** How a listener serves a request whose headers and path are sound. */
export type Handle = (
  request: Request,
  visit: { readonly address: string; readonly stopping: AbortSignal },
  incoming: IncomingMessage,
) => Promise<Response>

/**
 * Faults of headers that Node would hide: of two headers of one name it keeps the first.
 * @SECURITY open-user-api.test.ts fails without it.
 */
function headerFault({ rawHeaders }: IncomingMessage): GatehouseError | null {
  const read = readHeaders(rawHeaders, headersMax)
  if (read === 'duplicate_header')
    return new GatehouseError('InvalidRequest', {
      detail: 'a header that may stand once stands twice',
    })
  if (read === 'too_many_headers')
    return new GatehouseError('InvalidRequest', { detail: `more than ${headersMax} headers` })
  return null
}

/**
 * A path segment that a URL resolves: `.`, `..`, their encoded forms, and the backslash, which a URL reads
 * as a slash.
 */
const resolvedSegment = /(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\]|$)|\\/i

/**
 * The path that is served is the path that was sent: `/api/agents/%2e%2e/pause` is no way to `/api/pause`.
 * @SECURITY open-user-api.test.ts fails without it.
 */
function targetFault({ url = '/' }: IncomingMessage): GatehouseError | null {
  const path = url.split(/[?#]/, 1)[0] ?? '/'
  if (!resolvedSegment.test(path)) return null
  return new GatehouseError('InvalidRequest', {
    detail: 'the path has a segment "." or "..", or a backslash',
  })
}

/** The settings of an HTTP server for people, over TLS or not. */
export const serverSettings: ServerOptions = {
  headersTimeout: headersTimeoutMs,
  requestTimeout: requestTimeoutMs,
  keepAliveTimeout: keepAliveMs,
  // How often Node looks for sockets that are over these times.
  connectionsCheckingInterval: 2_000,
}

async function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  server.listen({ host, port })
  await once(server, 'listening')
  return server.address() as AddressInfo
}

/** Opens a server that `create` makes, and closes it with what it still has open. */
export async function openRestServer(
  options: RestServerOptions,
  create: (listener: RequestListener) => Server,
  handle: Handle,
): Promise<RestServer> {
  const stopping = new AbortController()
  const clientAddress = createClientAddress(options.trustedProxies ?? [])
  // The adapter comes with the first request: with the parts of Node that it needs it is a tenth of a start.
  const makeListener = async () =>
    (await import('@hono/node-server')).getRequestListener(
      (request, env) => {
        const { incoming } = env as { incoming: IncomingMessage }
        const fault = headerFault(incoming) ?? targetFault(incoming)
        if (fault) return problemResponse(fault, options.ids.next('req'))
        const { 'x-forwarded-for': forwardedFor } = incoming.headers
        const peer = incoming.socket.remoteAddress
        const address = clientAddress(peer, String(forwardedFor ?? '')) ?? 'unknown'
        return handle(request, { address, stopping: stopping.signal }, incoming)
      },
      { overrideGlobalObjects: false },
    )
  let made: ReturnType<typeof makeListener> | undefined
  // The listener answers its own failures, so there is nothing to wait for.
  const server = create((incoming, outgoing) => {
    made ??= makeListener()
    void made.then((listener) => listener(incoming, outgoing))
  })
  const headless = new HeadlessSockets(connectionsMax)
  const connected = (socket: Socket) => {
    headless.add(socket)
    socket.once('close', () => headless.delete(socket))
  }
  const opened = server instanceof SecureServer ? 'secureConnection' : 'connection'
  server.on(opened, connected)
  awaitFirstBytes(server, opened, keepAliveMs)
  server.on('request', ({ socket }) => headless.delete(socket))
  server.maxConnections = connectionsMax
  // More than are allowed, so that too many are seen rather than dropped.
  server.maxHeadersCount = headersMax * 2
  const listening = await listen(server, options.host, options.port)
  const close = async () => {
    stopping.abort()
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeIdleConnections()
    headless.closeAll()
    const timer = setTimeout(() => server.closeAllConnections(), options.graceMs ?? 2_000)
    await closed
    clearTimeout(timer)
  }
  return {
    address: `${reachableName(listening)}:${listening.port}`,
    close,
    [Symbol.asyncDispose]: close,
  }
}
