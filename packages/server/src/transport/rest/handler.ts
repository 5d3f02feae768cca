import type { ErrorType, Facts } from '@gatehouse/contract'
import type { Frozen, ParsedInput, Route, RouteAnswer } from '@gatehouse/contract/routes'
import type { App } from '../../app/app.ts'
import type { Op } from '../../app/call/op.ts'
import type { WebLogin } from '../../app/people/login.ts'
import type { EventSource } from './event-stream.ts'
import type { FeedBatch } from './feed-response.ts'
import type { Pointed } from './problem.ts'

/** Where a request came in, for the few routes that care. */
export type Peer = {
  /** Empty for a call from within the process. */
  readonly address: string
  /** Whether this listener takes passwords and hands out logins: only the one over TLS does. */
  readonly logsIn: boolean
  /** Under which the request reached the pages of this listener; null where it has none. */
  readonly origin: string | null
  /** The login that the request came with. */
  readonly login: WebLogin | null
}

/** A refusal that is no fault, with the record as it now stands for the loser of a race. */
export class Refusal {
  readonly type: ErrorType
  readonly facts: Facts
  readonly extra: { readonly current?: unknown; readonly errors?: readonly Pointed[] }

  constructor(type: ErrorType, facts: Facts, extra: Refusal['extra']) {
    this.type = type
    this.facts = facts
    this.extra = extra
  }
}

/** A record with headers or with a status of its own. */
export class Reply<T> {
  readonly record: T
  readonly init: { readonly status?: 503; readonly headers?: Readonly<Record<string, string>> }

  constructor(record: T, init: Reply<T>['init']) {
    this.record = record
    this.init = init
  }
}

export type Events =
  | { readonly kind: 'events'; readonly source: EventSource }
  | {
      readonly kind: 'feed'
      readonly name: string
      readonly open: (signal: AbortSignal) => AsyncIterable<FeedBatch>
    }

export type Streams = {
  lines: AsyncIterable<string>
  text: { readonly contentType: string; readonly text: string }
  bytes: AsyncIterable<Uint8Array>
  events: Events
}

/** Answer of a handler: the record of its route, or what is sent in place of one. */
type Answer<R extends Route> = R['answer'] extends keyof Streams
  ? Streams[R['answer']] | Refusal
  : Frozen<RouteAnswer<R>> | Reply<Frozen<RouteAnswer<R>>> | Refusal

export type Caller = Peer & {
  /** Where a reader of events wants to go on. */
  readonly lastEventId: string | undefined
  /** Versions that `If-Match` names; null without one, or where any version will do. */
  readonly versions: readonly string[] | null
}

export type Handler<R extends Route> = (
  op: Op,
  app: App,
  input: ParsedInput<R>,
  caller: Caller,
) => Answer<R> | Promise<Answer<R>>

/** A handler whose route is not known to the compiler. */
export type AnyHandler = (op: Op, app: App, input: unknown, caller: Caller) => unknown

/** A handler for each route of a table: one that is missing does not compile. */
export type Handlers<T extends Readonly<Record<string, Route>>> = {
  readonly [N in keyof T]: Handler<T[N]>
}
