import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer, type Server } from 'node:https'
import { GatehouseError } from '@gatehouse/contract'
import type { Certificates } from '../../ports/certificates.ts'
import { boundHandshakes } from '../http/handshakes.ts'
import type { HeadlessSockets } from '../http/headless-sockets.ts'
import type { RestOptions } from '../rest/create-rest-app.ts'
import { createHostGuard } from '../rest/host-guard.ts'
import { lazyRestApp } from '../rest/lazy-rest-app.ts'
import { loginIdOf } from '../rest/login-cookie.ts'
import { problemResponse, toGatehouseError } from '../rest/problem.ts'
import { openRestServer, type RestServerOptions, serverSettings } from '../rest/rest-server.ts'
import { loadPageFiles, pageResponse } from './page-files.ts'
import { assertSameOrigin } from './same-origin.ts'

export type DashboardOptions = RestOptions &
  RestServerOptions & {
    readonly tls: Certificates
    /** The folder with `index.html` and what belongs to it. */
    readonly pages: string
  }

export interface Dashboard extends AsyncDisposable {
  /** `https://host:port` */
  readonly url: string
  close(): Promise<void>
}

/** No HSTS: it would lock out whoever has not trusted the local authority yet. */
const securityHeaders: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const handshakeTimeoutMs = 20_000

const secure = ({ key, cert }: { readonly key: string; readonly cert: string }) => ({
  key,
  cert,
  minVersion: 'TLSv1.2' as const,
})

const isApi = (path: string): boolean =>
  path === '/api' || path.startsWith('/api/') || ['/healthz', '/readyz', '/metrics'].includes(path)

/** The listener for people: the page and the same `/api`, over HTTPS, with a login or a user token. */
export async function openDashboard(options: DashboardOptions): Promise<Dashboard> {
  const { app, ids, tls } = options
  const rest = lazyRestApp({ ...options, forBrowsers: true })
  const files = loadPageFiles(options.pages)
  const guard = createHostGuard(options.allowedHosts ?? [], options.allowedOrigins ?? [], 'https')

  const servePage = async (request: Request, path: string): Promise<Response> => {
    guard.assertAllowed(request.headers, true)
    // Links of a document lead from its folder.
    if (path === '/docs')
      return new Response(null, { status: 308, headers: { location: '/docs/' } })
    const file = files(path)
    if (!file) throw new GatehouseError('NotFound', { path })
    if (request.method === 'GET' || request.method === 'HEAD') return pageResponse(request, file)
    const { method } = request
    throw new GatehouseError('MethodNotAllowed', { path, method, allowed: 'GET, HEAD' })
  }

  const serveApi = async (
    request: Request,
    visit: { readonly address: string; readonly stopping: AbortSignal },
  ): Promise<Response> => {
    const { headers } = request
    guard.assertAllowed(headers, true)
    // A token says by itself who asks, and no browser adds one unasked.
    if (headers.has('authorization')) return rest.fetch(request, visit)
    const id = loginIdOf(headers.get('cookie'))
    assertSameOrigin(request, id !== null)
    const login = id === null ? null : await app.authenticateWebSession(id, visit.address)
    if (id === null || !login) return rest.fetch(request, visit)
    const stillValid = async () => {
      const now = await app.authenticateWebSession(id)
      return now?.actor.role === login.actor.role
    }
    return rest.fetch(request, { ...visit, actor: login.actor, login, stillValid })
  }

  const handle = async (
    request: Request,
    visit: { readonly address: string; readonly stopping: AbortSignal },
    incoming: IncomingMessage,
  ): Promise<Response> => {
    let response: Response
    try {
      const path = (incoming.url ?? '/').split('?', 1)[0] ?? '/'
      response = isApi(path) ? await serveApi(request, visit) : await servePage(request, path)
    } catch (error) {
      const requestId = ids.next('req')
      const known = toGatehouseError(error, requestId)
      if (known.entry.http >= 500)
        options.log.error({ request_id: requestId, err: error }, 'request failed')
      response = problemResponse(known, requestId)
    }
    for (const [name, value] of Object.entries(securityHeaders)) response.headers.set(name, value)
    return response
  }

  let secured: Server | undefined
  let handshakes: HeadlessSockets | undefined
  const create = (listener: RequestListener): Server => {
    secured = createServer(
      { ...serverSettings, ...secure(tls.current()), handshakeTimeout: handshakeTimeoutMs },
      listener,
    )
    handshakes = boundHandshakes(secured)
    return secured
  }
  const server = await openRestServer(options, create, handle)
  // Connections that are open go on; new ones see the new certificate.
  const renewal = tls.onChange((next) => secured?.setSecureContext(secure(next)))
  const close = async () => {
    renewal[Symbol.dispose]()
    const closed = server.close()
    // A browser whose handshake ended later would be served over that connection for as long as it likes.
    handshakes?.closeAll()
    await closed
  }
  return { url: `https://${server.address}`, close, [Symbol.asyncDispose]: close }
}
