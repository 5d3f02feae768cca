import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { GatehouseError } from '@gatehouse/contract'
import { getRequestListener } from '@hono/node-server'
import { defaultGatewayLimits } from '../http/limits.ts'
import { readHeaders } from '../http/read-headers.ts'
import { createRestApp, type RestOptions } from './create-rest-app.ts'
import { problemResponse } from './problem.ts'

export type UserApiOptions = RestOptions & {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** How long `close` lets running requests finish. */
  readonly graceMs?: number
}

export interface UserApi extends AsyncDisposable {
  readonly url: string
  close(): Promise<void>
}

const headersMax = defaultGatewayLimits.headersMax
/** People and their tools, not agents: far more than they need. */
const connectionsMax = 1_000

/**
 * What Node would hide: of two headers of one name it keeps the first.
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

async function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  server.listen({ host, port })
  await once(server, 'listening')
  return server.address() as AddressInfo
}

/** Opens the REST API on a socket of this machine. */
export async function openUserApi(options: UserApiOptions): Promise<UserApi> {
  const rest = createRestApp(options)
  const stopping = new AbortController()
  const listener = getRequestListener(
    (request, env) => {
      const { incoming } = env as { incoming: IncomingMessage }
      const fault = headerFault(incoming)
      if (fault) return problemResponse(fault, options.ids.next('req'))
      return rest.fetch(request, {
        address: incoming.socket.remoteAddress ?? 'unknown',
        stopping: stopping.signal,
      })
    },
    { overrideGlobalObjects: false },
  )
  const { headersTimeoutMs, requestTimeoutMs } = defaultGatewayLimits
  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      // How often Node looks for sockets that are over these times.
      connectionsCheckingInterval: 2_000,
    },
    // The listener answers its own failures, so there is nothing to wait for.
    (incoming, outgoing) => void listener(incoming, outgoing),
  )
  server.maxConnections = connectionsMax
  // More than are allowed, so that too many are seen rather than dropped.
  server.maxHeadersCount = headersMax * 2
  const { address, family, port } = await listen(server, options.host, options.port)
  const close = async () => {
    stopping.abort()
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeIdleConnections()
    const timer = setTimeout(() => server.closeAllConnections(), options.graceMs ?? 2_000)
    await closed
    clearTimeout(timer)
  }
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close,
    [Symbol.asyncDispose]: close,
  }
}
