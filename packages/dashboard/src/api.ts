import type { RouteAnswer, RouteInput, RouteName, Routes } from '@gatehouse/contract/routes'
import { ClientError, createClient } from '@gatehouse/rest-client'
import { QueryClient, type QueryKey, type UseQueryResult, useQuery } from '@tanstack/react-query'

/** The key of the login, which every refusal for want of one asks to be read again. */
export const sessionKey = ['showSession', {}]

/** The API of the service that this page came from; the browser adds the cookie of the login. */
export const api = createClient({
  baseUrl: location.origin,
  fetch: async (url, init) => {
    const response = await fetch(url, init)
    if (response.status === 401 && !url.endsWith('/api/session'))
      void queryClient.invalidateQueries({ queryKey: sessionKey })
    return response
  },
})

const isFinal = (error: unknown): boolean => error instanceof ClientError && error.status < 500

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // A refusal stays one; silence and failures of the service may pass.
      retry: (failures, error) => !isFinal(error) && failures < 2,
      retryDelay: 500,
    },
    mutations: { retry: false },
  },
})

/** Routes that answer with a record. */
export type RecordRoute = {
  [N in RouteName]: Routes[N]['answer'] extends string ? never : N
}[RouteName]

/** The input of a route, as its method takes it; an empty object where it takes nothing. */
export type InputOf<N extends RouteName> = RouteInput<Routes[N]>
export type AnswerOf<N extends RouteName> = RouteAnswer<Routes[N]>

/** One method for all records: the type of the client has one for each. */
export const callRoute = <N extends RecordRoute>(
  name: N,
  input?: InputOf<N>,
): Promise<AnswerOf<N>> => (api[name] as (input?: InputOf<N>) => Promise<AnswerOf<N>>)(input)

/** A record that a page reads, under the name of its route. */
export const read = <N extends RecordRoute>(
  name: N,
  ...[input]: Arguments<N>
): { queryKey: QueryKey; queryFn: () => Promise<AnswerOf<N>> } => ({
  queryKey: [name, input ?? {}],
  queryFn: () => callRoute(name, input),
})

type Arguments<N extends RecordRoute> =
  object extends InputOf<N> ? [input?: InputOf<N>] : [input: InputOf<N>]

/** Reads a record and keeps it up to date while it is shown. */
export const useRead = <N extends RecordRoute>(
  name: N,
  ...input: Arguments<N>
): UseQueryResult<AnswerOf<N>> => useQuery<AnswerOf<N>>(read(name, ...input))

/** The error type of a refusal; empty where the service did not answer. */
export const codeOf = (error: unknown): string =>
  error instanceof ClientError ? error.problem.code : ''

/** Message of an error, in the words of the service. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** Faults that the service found in the fields of a request, by the name of the field. */
export const fieldErrorsOf = (error: unknown): Readonly<Record<string, string>> =>
  error instanceof ClientError
    ? Object.fromEntries(
        (error.problem.errors ?? []).map(({ pointer, detail }) => [
          pointer.replace(/^#?\//, '').split('/')[0] ?? '',
          detail,
        ]),
      )
    : {}

/** The record as it stands, where the service told it with a refusal. */
export const currentOf = (error: unknown): unknown =>
  error instanceof ClientError ? error.problem.current : undefined
