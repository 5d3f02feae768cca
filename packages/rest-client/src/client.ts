import type {
  Route,
  RouteAnswer,
  RouteInput,
  RouteName,
  Routes,
  StreamKind,
} from '@gatehouse/contract/routes'
import type { Answer } from './answer.ts'
import { readEvents, readLines, type ServerEvent } from './read-lines.ts'
import { routes } from './routes.ts'
import {
  type ClientOptions,
  createSend,
  type Input,
  type RouteEntry,
  readRecord,
  type Send,
} from './send.ts'

/** The last argument of a method: nothing where a route takes nothing, optional where it needs nothing. */
type Given<R extends Route> = keyof RouteInput<R> extends never
  ? []
  : object extends RouteInput<R>
    ? [input?: RouteInput<R>]
    : [input: RouteInput<R>]

type Streams = {
  lines: AsyncGenerator<string>
  text: Promise<string>
  bytes: Promise<ReadableStream<Uint8Array>>
}

type Method<R extends Route> = R['answer'] extends keyof Streams
  ? (...given: Given<R>) => Streams[R['answer']]
  : R['answer'] extends 'events'
    ? (signal: AbortSignal, ...given: Given<R>) => AsyncGenerator<ServerEvent>
    : (...given: Given<R>) => Promise<RouteAnswer<R>>

/** One method for each route. Raises `ClientError` for a refusal, `UnreachableError` for silence. */
export type Client = { readonly [N in RouteName]: Method<Routes[N]> }

const bodyOf = ({ body }: Answer): ReadableStream<Uint8Array> =>
  body ?? new ReadableStream({ start: (controller) => controller.close() })

/** How an answer of each kind is asked for and read. */
const methods: Readonly<
  Record<StreamKind | 'record', (send: Send, route: RouteEntry) => (...given: never[]) => unknown>
> = {
  record: (send, route) => async (input?: Input) => readRecord(route, await send(route, input)),
  text: (send, route) => async (input?: Input) => (await send(route, input)).text(),
  bytes: (send, route) => async (input?: Input) => bodyOf(await send(route, input)),
  lines: (send, route) =>
    async function* (input?: Input) {
      yield* readLines(bodyOf(await send(route, input)))
    },
  events: (send, route) =>
    async function* (signal: AbortSignal, input?: Input) {
      yield* readEvents(bodyOf(await send(route, input, signal)))
    },
}

export function createClient(options: ClientOptions): Client {
  const send = createSend(options)
  const all = routes.map((route) => [route.name, methods[route.answer ?? 'record'](send, route)])
  // Both the type and the list are made from the routes of the contract: client.test.ts compares them.
  return Object.fromEntries(all) as Client
}
