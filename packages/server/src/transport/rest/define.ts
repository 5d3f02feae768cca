import type { ErrorType, Facts } from '@gatehouse/contract'
import type { z } from 'zod'
import type { App } from '../../app/app.ts'
import type { WebLogin } from '../../app/login.ts'
import type { Op } from '../../app/op.ts'
import type { EventSource } from './event-stream.ts'
import type { FeedBatch } from './feed-response.ts'
import type { Permission } from './permissions.ts'
import type { Pointed } from './problem.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What a route may answer: a document, a refusal that is no fault, lines, or events as they happen. */
export type Answer<T> =
  | {
      readonly kind: 'json'
      readonly status: 200 | 201 | 202 | 503
      readonly value: T
      readonly headers?: Readonly<Record<string, string>>
    }
  | {
      readonly kind: 'refused'
      readonly type: ErrorType
      readonly facts: Facts
      /** The record as it now stands, for whoever lost a race. */
      readonly current?: unknown
      readonly errors?: readonly Pointed[]
    }
  | { readonly kind: 'lines'; readonly lines: AsyncIterable<string> }
  | { readonly kind: 'bytes'; readonly bytes: AsyncIterable<Uint8Array> }
  | { readonly kind: 'events'; readonly source: EventSource }
  | { readonly kind: 'text'; readonly contentType: string; readonly text: string }
  | {
      readonly kind: 'feed'
      readonly name: string
      readonly open: (signal: AbortSignal) => AsyncIterable<FeedBatch>
    }

/** Where a request came in, for the few routes that care. */
export type Peer = {
  /** Empty for a call from within the process. */
  readonly address: string
  /** Whether this door takes passwords and hands out logins: only the one over TLS does. */
  readonly logsIn: boolean
  /** The login that the request came with. */
  readonly login: WebLogin | null
}

export const ok = <T>(value: T): Answer<T> => ({ kind: 'json', status: 200, value })

export const created = <T>(value: T): Answer<T> => ({ kind: 'json', status: 201, value })

/** Begun, and going on behind the answer. */
export const accepted = <T>(value: T): Answer<T> => ({ kind: 'json', status: 202, value })

export const conflict = (type: ErrorType, facts: Facts, current: unknown): Answer<never> => ({
  kind: 'refused',
  type,
  facts,
  current,
})

export const refused = (
  type: ErrorType,
  facts: Facts,
  errors: readonly Pointed[],
): Answer<never> => ({ kind: 'refused', type, facts, errors })

/** Records come out of the application frozen; the wire does not mind. */
type Frozen<T> = T extends string
  ? T
  : T extends readonly (infer U)[]
    ? readonly Frozen<U>[]
    : T extends object
      ? { readonly [K in keyof T]: Frozen<T[K]> }
      : T

/** `ndjson`: one JSON document a line. `events`: server-sent events. `text`, `bytes`: as they are. */
export type ResponseShape = z.ZodType | 'ndjson' | 'events' | 'text' | 'bytes'
type Answered<R> = R extends z.ZodType ? Frozen<z.output<R>> : never

type Spec<P, Q, B, R> = {
  readonly method: Method
  /** Parameters as `:name`, one path segment each. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  /** @SECURITY Required: a route that says nothing does not compile; roles.test.ts. */
  readonly permission: Permission | 'public'
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly response: R
  /** The status of success, 200 unless said. */
  readonly success?: 201 | 202
  /** Whether the same answer may come with 503: a probe that says no. */
  readonly mayBeUnavailable?: true
  /** The largest body, where that is less than usual. */
  readonly bodyBytesMax?: number
  /** What it may answer beyond what every route may. */
  readonly errors: readonly ErrorType[]
}

export type Route = Spec<z.ZodType, z.ZodType, z.ZodType, ResponseShape> & {
  handle(
    op: Op,
    app: App,
    input: {
      readonly params: unknown
      readonly query: unknown
      readonly body: unknown
      readonly peer: Peer
      /** Where a reader of events wants to go on. */
      readonly lastEventId: string | undefined
    },
  ): Promise<Answer<unknown>>
}

type Output<S> = S extends z.ZodType ? z.output<S> : undefined

export function defineRoute<
  const R extends ResponseShape,
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  route: Spec<P, Q, B, R> & {
    handle(
      op: Op,
      app: App,
      input: {
        readonly params: Output<P>
        readonly query: Output<Q>
        readonly body: Output<B>
        readonly peer: Peer
        readonly lastEventId: string | undefined
      },
    ): Promise<Answer<Answered<R>>>
  },
): Route {
  // What a route takes is parsed by its own schemas before `handle` sees it, so the erased type is safe.
  return route as unknown as Route
}
