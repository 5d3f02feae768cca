import { type ErrorType, GatehouseError } from '@gatehouse/contract'
import { type Context, Hono } from 'hono'
import type { z } from 'zod'
import type { App } from '../../app/app.ts'
import type { Actor, Op } from '../../app/op.ts'
import { type Admitted, assertPermitted, authenticate } from './authorize.ts'
import { readJsonBody } from './body.ts'
import { bytesResponse } from './bytes-response.ts'
import type { Answer, Peer, Route } from './define.ts'
import { eventStreamResponse } from './event-stream.ts'
import { feedResponse } from './feed-response.ts'
import { InvalidRequest, pointedErrors } from './invalid-request.ts'
import { linesResponse } from './lines-response.ts'
import { problemResponse } from './problem.ts'

/** What the door knows of one request. */
export type Visit = {
  readonly requestId: string
  readonly signal: AbortSignal
  /** Set where a door has established by itself who acts (a login session, the service). */
  readonly actor?: Actor
  /** Whether that still holds, for what stays open. */
  readonly stillHolds?: () => Promise<boolean>
  readonly peer: Peer
}

export type RestEnv = { Bindings: Visit }

type Options = { readonly app: App; readonly heartbeatMs: number }

const admit = async (app: App, context: Context<RestEnv>): Promise<Admitted> => {
  const { actor, stillHolds = () => Promise.resolve(true) } = context.env
  if (actor) return { actor, stillHolds }
  return authenticate(app, context.req.header('authorization') ?? null)
}

function parse(part: 'query' | 'body', schema: z.ZodType | undefined, value: unknown): unknown {
  if (!schema) return undefined
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new InvalidRequest(pointedErrors(part, schema, parsed.error, value))
}

function parseQuery(route: Route, context: Context<RestEnv>): unknown {
  if (!route.query) return undefined
  const all = context.req.queries()
  const twice = Object.keys(all).find((name) => (all[name]?.length ?? 0) > 1)
  if (twice !== undefined)
    throw new InvalidRequest([{ pointer: `?${twice}`, detail: 'is given twice' }])
  return parse('query', route.query, context.req.query())
}

function parseParams(route: Route, context: Context<RestEnv>): unknown {
  if (!route.params) return undefined
  const parsed = route.params.safeParse(context.req.param())
  if (parsed.success) return parsed.data
  throw new GatehouseError('NotFound', { path: context.req.path })
}

function respond(
  answer: Answer<unknown>,
  admitted: Admitted | null,
  visit: Visit,
  heartbeatMs: number,
): Response | Promise<Response> {
  switch (answer.kind) {
    case 'json':
      return Response.json(answer.value, {
        status: answer.status,
        headers: { 'cache-control': 'no-store', ...answer.headers },
      })
    case 'lines':
      return linesResponse(answer.lines)
    case 'bytes':
      return bytesResponse(answer.bytes)
    case 'events':
      return eventStreamResponse(answer.source, {
        signal: visit.signal,
        heartbeatMs,
        admits: admitted?.stillHolds ?? (() => Promise.resolve(true)),
      })
    case 'text':
      return new Response(answer.text, {
        headers: { 'content-type': answer.contentType, 'cache-control': 'no-store' },
      })
    case 'feed':
      return feedResponse(answer.open, {
        name: answer.name,
        signal: visit.signal,
        heartbeatMs,
        admits: admitted?.stillHolds ?? (() => Promise.resolve(true)),
      })
    case 'refused':
      return problemResponse(new GatehouseError(answer.type, answer.facts), visit.requestId, {
        ...(answer.current === undefined ? {} : { current: answer.current }),
        ...(answer.errors ? { errors: answer.errors } : {}),
      })
  }
}

/** No body is an empty object; `null` is a value like any other. */
async function bodyOf(route: Route, { req }: Context<RestEnv>): Promise<unknown> {
  const body = await readJsonBody(req.raw, route.bodyBytesMax)
  return body === undefined ? {} : body
}

/** Who, whether, what, in this order: nothing of the body is read for somebody who may not send it. */
const serve = (route: Route, options: Options) => async (context: Context<RestEnv>) => {
  const { app } = options
  const visit = context.env
  const admitted = route.permission === 'public' ? null : await admit(app, context)
  if (admitted && route.permission !== 'public') assertPermitted(admitted.actor, route.permission)
  const op: Op = {
    actor: admitted?.actor ?? { kind: 'system' },
    request_id: visit.requestId,
    session_id: null,
    signal: visit.signal,
  }
  const input = {
    params: parseParams(route, context),
    query: parseQuery(route, context),
    body: route.body ? parse('body', route.body, await bodyOf(route, context)) : undefined,
    peer: visit.peer,
    lastEventId: context.req.header('last-event-id'),
  }
  return respond(await route.handle(op, app, input), admitted, visit, options.heartbeatMs)
}

const refuse = (type: ErrorType, facts: Record<string, unknown>): never => {
  throw new GatehouseError(type, facts)
}

/** The table as a router. A path that exists answers 405 to other methods, with those it knows. */
export function mountRoutes(table: readonly Route[], options: Options): Hono<RestEnv> {
  const hono = new Hono<RestEnv>()
  for (const route of table) hono.on(route.method, route.path, serve(route, options))
  for (const path of new Set(table.map((route) => route.path))) {
    const allowed = table.filter((route) => route.path === path).map((route) => route.method)
    hono.all(path, async (context) => {
      await admit(options.app, context)
      const { method } = context.req
      return refuse('MethodNotAllowed', { path, method, allowed: allowed.join(', ') })
    })
  }
  // Strangers cannot tell a path that exists from one that does not.
  hono.all('*', async (context) => {
    await admit(options.app, context)
    return refuse('NotFound', { path: context.req.path })
  })
  return hono
}
