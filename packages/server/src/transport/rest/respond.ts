import { GatehouseError } from '@gatehouse/contract'
import type { Route } from '@gatehouse/contract/routes'
import { bytesResponse } from './bytes-response.ts'
import { eventStreamResponse } from './event-stream.ts'
import { feedResponse } from './feed-response.ts'
import { type Events, Refusal, Reply, type Streams } from './handler.ts'
import { linesResponse } from './lines-response.ts'
import { problemResponse } from './problem.ts'

export type Stay = Parameters<typeof eventStreamResponse>[1]

const recordResponse = (route: Route, record: unknown, init: Reply<unknown>['init']) =>
  Response.json(record, {
    status: init.status ?? route.success ?? 200,
    headers: { 'cache-control': 'no-store', ...init.headers },
  })

const eventsResponse = (events: Events, stay: Stay) =>
  events.kind === 'events'
    ? eventStreamResponse(events.source, stay)
    : feedResponse(events.open, { name: events.name, ...stay })

const streamResponses: {
  readonly [K in keyof Streams]: (stream: Streams[K], stay: Stay) => Response | Promise<Response>
} = {
  lines: linesResponse,
  bytes: bytesResponse,
  events: eventsResponse,
  text: ({ contentType, text }) =>
    new Response(text, {
      headers: { 'content-type': contentType, 'cache-control': 'no-store' },
    }),
}

/** Response made of what a handler returned. */
export function respond(
  route: Route,
  returned: unknown,
  requestId: string,
  stay: Stay,
): Response | Promise<Response> {
  if (returned instanceof Refusal) {
    const { type, facts, extra } = returned
    return problemResponse(new GatehouseError(type, facts), requestId, extra)
  }
  if (returned instanceof Reply) return recordResponse(route, returned.record, returned.init)
  if (typeof route.answer !== 'string') return recordResponse(route, returned, {})
  // A handler returns what its route answers: the compiler has seen to it.
  return streamResponses[route.answer](returned as never, stay)
}
