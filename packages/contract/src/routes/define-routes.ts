import type { z } from 'zod'
import type { ErrorType } from '../errors.ts'

/** Permissions of routes. `read` shows and checks, and changes nothing. */
export type Permission =
  | 'read'
  | 'approvals.decide'
  | 'agents.manage'
  | 'alerts.manage'
  | 'audit.manage'
  | 'backup.make'
  | 'hooks.ask'
  | 'models.manage'
  | 'models.use'
  | 'nodes.manage'
  | 'notifications.manage'
  | 'policies.manage'
  | 'proxy.manage'
  | 'processes.manage'
  | 'schedules.manage'
  | 'state.manage'
  | 'upstreams.manage'
  | 'user_tokens.manage'
  | 'vault.manage'
  | 'operators.manage'
  | 'writes.cancel'

/** `lines`: one JSON document a line. `events`: server-sent events. `text`, `bytes`: as they are. */
export type StreamKind = 'lines' | 'events' | 'text' | 'bytes'

/**
 * One operation of the REST API, under its name. Parameters, query and body reach the handler as one
 * object, and a caller gives them as one: no two of them have a field of the same name.
 */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Parameters as `:name`, one path segment each. */
  readonly path: string
  readonly summary: string
  /** @SECURITY Required: a route that says nothing does not compile; roles.test.ts. */
  readonly permission: Permission | 'public'
  /** The parameters that are more than a name. */
  readonly params?: Readonly<Record<string, z.ZodType<string>>>
  readonly query?: z.ZodObject
  readonly body?: z.ZodType<object>
  readonly answer: z.ZodType<object> | StreamKind
  /** Answers carry an `ETag`, and a request that changes something is taken with `If-Match`. */
  readonly versioned?: true
  /** The status of success, 200 unless said. */
  readonly success?: 201 | 202
  /** Whether the same answer may come with 503: a probe that says no. */
  readonly mayBeUnavailable?: true
  /** The largest body, where that is less than usual. */
  readonly bodyBytesMax?: number
  /** Errors that this route may answer with, beyond those of every route. */
  readonly errors?: readonly ErrorType[]
}

export const defineRoutes = <const R extends Readonly<Record<string, Route>>>(routes: R): R =>
  routes
