import type { z } from 'zod'
import type { Route } from './define-routes.ts'

/** A record that its reader leaves as it is. */
export type Frozen<T> = T extends string
  ? T
  : T extends readonly (infer U)[]
    ? readonly Frozen<U>[]
    : T extends object
      ? { readonly [K in keyof T]: Frozen<T[K]> }
      : T

type ParamName<Path> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? Name | ParamName<Tail>
    : Rest
  : never

type Params<R extends Route> = { readonly [N in ParamName<R['path']>]: string }

/** Query as a caller gives it: a number is a number; only the wire makes it a text. */
type Query<S> = S extends z.ZodType
  ? {
      readonly [K in keyof z.input<S>]:
        | (K extends keyof z.output<S> ? z.output<S>[K] : never)
        | Extract<z.input<S>[K], undefined>
    }
  : unknown
type Body<S> = S extends z.ZodType ? Frozen<z.input<S>> : unknown

/** The version that the record must still have; sent as `If-Match`. */
type Match<R extends Route> = R extends { readonly versioned: true; readonly body: z.ZodType }
  ? { readonly if_match?: string | number | undefined }
  : unknown

/** Input of a route as a caller gives it: parameters, query and body as one object. */
export type RouteInput<R extends Route> = Params<R> & Query<R['query']> & Body<R['body']> & Match<R>

/** Fields without `undefined`, which never crosses the wire: a field that may be missing is missing. */
type Present<S> = S extends z.ZodType
  ? {
      readonly [K in keyof z.output<S>]: undefined extends z.input<S>[K & keyof z.input<S>]
        ? Exclude<z.output<S>[K], undefined>
        : z.output<S>[K]
    }
  : unknown

/** The same as a handler gets it: checked, with the defaults filled in. */
export type ParsedInput<R extends Route> = Params<R> & Present<R['query']> & Present<R['body']>

export type RouteAnswer<R extends Route> = R['answer'] extends z.ZodType
  ? z.output<R['answer']>
  : never
