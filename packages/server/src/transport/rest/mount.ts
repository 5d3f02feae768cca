import { type ErrorType, GatehouseError } from '@gatehouse/contract'
import { type Route, type RouteName, routes } from '@gatehouse/contract/routes'
import { type Context, Hono } from 'hono'
import type { App } from '../../app/app.ts'
import type { Actor, Op } from '../../app/call/op.ts'
import { type Admitted, assertPermitted, authenticate } from './authorize.ts'
import type { AnyHandler, Peer } from './handler.ts'
import { createHandlers } from './handlers.ts'
import { createParser } from './parse-input.ts'
import { respond } from './respond.ts'
import { versionsOf } from './versions.ts'

/** Facts about one request that the listener knows. */
export type Visit = {
  readonly requestId: string
  readonly signal: AbortSignal
  /** Set where a listener has established by itself who acts (a login session, the service). */
  readonly actor?: Actor
  /** Whether it is still valid, for what stays open. */
  readonly stillValid?: () => Promise<boolean>
  readonly peer: Peer
}

export type RestEnv = { Bindings: Visit }

type Options = { readonly app: App; readonly heartbeatMs: number }

const always = () => Promise.resolve(true)

const admit = async (app: App, context: Context<RestEnv>): Promise<Admitted> => {
  const { actor, stillValid = always } = context.env
  if (actor) return { actor, stillValid }
  return authenticate(app, context.req.header('authorization') ?? null)
}

/** Nobody reads what GET would send, so it ends at once: a stream would wait for its reader for good. */
const headOf = async (response: Response): Promise<Response> => {
  await response.body?.cancel()
  return new Response(null, response)
}

/** Authentication, permission and input, in this order: nothing of the body is read for somebody who may not send it. */
function serve(route: Route, handle: AnyHandler, { app, heartbeatMs }: Options) {
  const { permission } = route
  const parseInput = createParser(route)
  return async (context: Context<RestEnv>) => {
    const { requestId, signal, peer } = context.env
    const admitted = permission === 'public' ? null : await admit(app, context)
    if (admitted && permission !== 'public') assertPermitted(admitted.actor, permission)
    const op: Op = {
      actor: admitted?.actor ?? { kind: 'system' },
      request_id: requestId,
      session_id: null,
      signal,
    }
    const input = await parseInput(context.req)
    const lastEventId = context.req.header('last-event-id')
    const versions = route.versioned ? versionsOf(context.req.header('if-match')) : null
    const returned = await handle(op, app, input, { ...peer, lastEventId, versions })
    const admits = admitted?.stillValid ?? always
    const answer = respond(route, returned, requestId, { signal, heartbeatMs, admits })
    return context.req.method === 'HEAD' ? headOf(await answer) : answer
  }
}

const refuse = (type: ErrorType, facts: Record<string, unknown>): never => {
  throw new GatehouseError(type, facts)
}

/** The routes as a router. A path that exists answers 405 to other methods, with those it knows. */
export function mountRoutes(options: Options & { readonly version: string }): Hono<RestEnv> {
  const hono = new Hono<RestEnv>()
  const handlers = createHandlers(options.version)
  const allowed = new Map<string, string[]>()
  for (const [name, route] of Object.entries<Route>(routes)) {
    // Input is parsed by the shapes that the handler's type is made from, so the erased type is safe.
    const handle = handlers[name as RouteName] as AnyHandler
    hono.on(route.method, route.path, serve(route, handle, options))
    const methods = route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]
    allowed.set(route.path, [...(allowed.get(route.path) ?? []), ...methods])
  }
  for (const [path, methods] of allowed)
    hono.all(path, async (context) => {
      await admit(options.app, context)
      const { method } = context.req
      return refuse('MethodNotAllowed', { path, method, allowed: methods.join(', ') })
    })
  // Strangers cannot tell a path that exists from one that does not.
  hono.all('*', async (context) => {
    await admit(options.app, context)
    return refuse('NotFound', { path: context.req.path })
  })
  return hono
}
