import type { GatehouseError } from '@gatehouse/contract'
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/client'
import { z } from 'zod'
import type { UpstreamQuestion, UpstreamReply } from '../ports/upstream.ts'

/** Questions that a server may put into one answer. */
const atOnceMax = 10
const textMax = 100_000

const message = z.string().max(textMax)

const Asked = z.union([
  z
    .looseObject({ mode: z.literal('url'), message, url: z.string().max(textMax) })
    .transform(({ message: text, url }): UpstreamQuestion => ({ kind: 'url', message: text, url })),
  z
    .looseObject({ mode: z.literal('form').optional(), message, requestedSchema: z.unknown() })
    .transform(
      ({ message: text, requestedSchema: schema }): UpstreamQuestion => ({
        kind: 'form',
        message: text,
        schema,
      }),
    ),
])

const refusedMethods: Readonly<Record<string, string>> = {
  'sampling/createMessage': 'it asks for an answer of a model, which no server gets here',
  'roots/list': 'it asks for folders, which are granted when it is added',
}

const refusalOf = (method: string): string =>
  refusedMethods[method] ?? 'it asks for something that is not known here'

/** Answer to requests of a server that the gate takes none of, in the versions in which it asks by itself. */
export const refusedRequest = (method: string): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.MethodNotFound,
    `Gatehouse refuses ${method.slice(0, 64)}: ${refusalOf(method)}`,
  )

/** Raises what `failed` makes of the reason. */
export const readQuestion = (
  method: string,
  params: unknown,
  failed: (why: string) => GatehouseError,
): UpstreamQuestion => {
  if (method !== 'elicitation/create') throw failed(refusalOf(method))
  const read = Asked.safeParse(params)
  if (!read.success) throw failed('it asks a person in a form that the protocol does not have')
  return read.data
}

const InputRequired = z.looseObject({
  resultType: z.literal('input_required'),
  inputRequests: z
    .record(z.string(), z.looseObject({ method: z.string(), params: z.unknown().optional() }))
    .optional(),
  requestState: z.string().optional(),
})
type InputRequired = z.infer<typeof InputRequired>

/** Questions of a server. Raises what `failed` makes of the reason. */
export const readWanted = (
  result: unknown,
  failed: (why: string) => GatehouseError,
): InputRequired => {
  const read = InputRequired.safeParse(result)
  if (!read.success) throw failed('it asks a person in a form that the protocol does not have')
  const { inputRequests = {}, requestState } = read.data
  if (Object.keys(inputRequests).length === 0 && requestState === undefined)
    throw failed('its answer has not the form that the protocol asks for')
  if (Object.keys(inputRequests).length > atOnceMax)
    throw failed(`it asks more than ${atOnceMax} things at once`)
  return read.data
}

/** The same before it answers; null for an answer. */
export const wantedIn = (
  result: unknown,
  failed: (why: string) => GatehouseError,
): InputRequired | null =>
  (result as { readonly resultType?: unknown }).resultType === 'input_required'
    ? readWanted(result, failed)
    : null

type Ask = (question: UpstreamQuestion, signal: AbortSignal) => Promise<UpstreamReply>

export const wireReply = ({ action, content }: UpstreamReply) => ({
  action,
  ...(content === null
    ? {}
    : {
        content: Object.fromEntries(
          Object.entries(content).map(([name, value]) => [
            name,
            typeof value === 'object' ? [...value] : value,
          ]),
        ),
      }),
})

/** Asks all that a server wants to know; the first that can't be asked ends the others. */
export const replyToAll = async (
  { inputRequests = {} }: InputRequired,
  ask: Ask,
  failed: (why: string) => GatehouseError,
): Promise<Record<string, unknown>> => {
  const questions = Object.entries(inputRequests).map(
    ([key, { method, params }]) => [key, readQuestion(method, params, failed)] as const,
  )
  const ended = new AbortController()
  try {
    return Object.fromEntries(
      await Promise.all(
        questions.map(async ([key, question]) => [
          key,
          wireReply(await ask(question, ended.signal)),
        ]),
      ),
    )
  } finally {
    ended.abort()
  }
}

const Wanted = z.looseObject({
  elicitations: z.array(z.unknown()).min(1).max(atOnceMax),
})

/** Addresses that a person has to open before a call can be made: a server of 2025-11-25 refuses it with them. */
export const addressesIn = (
  cause: unknown,
  failed: (why: string) => GatehouseError,
): readonly UpstreamQuestion[] => {
  if (!(cause instanceof ProtocolError)) return []
  if (cause.code !== ProtocolErrorCode.UrlElicitationRequired) return []
  const read = Wanted.safeParse(cause.data)
  if (!read.success) return []
  return read.data.elicitations.map((params) => readQuestion('elicitation/create', params, failed))
}
