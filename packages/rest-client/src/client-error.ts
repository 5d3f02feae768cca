import type { Problem } from '@gatehouse/contract'
import type { Answer } from './answer.ts'

/** A problem document; `current` is the record as it stands, for whoever came too late. Which kind of
 * record depends on the operation. */
export type ClientProblem = Problem & { readonly current?: unknown }

/** The server answered, and the answer is no. */
export class ClientError extends Error {
  readonly status: number
  readonly problem: ClientProblem

  constructor(status: number, problem: ClientProblem) {
    super(problem.detail)
    this.name = 'ClientError'
    this.status = status
    this.problem = problem
  }
}

/** The server did not answer. */
export class UnreachableError extends Error {
  constructor(url: string, cause: unknown) {
    super(`${new URL(url).origin} does not answer`, { cause })
    this.name = 'UnreachableError'
  }
}

/** A name that can't stand in an address. Nothing was sent. */
export class InvalidNameError extends Error {
  constructor(
    parameter: string,
    name: unknown,
    detail: string,
    options: { readonly cause?: unknown } = {},
  ) {
    const given = typeof name === 'string' ? JSON.stringify(name) : 'Nothing'
    super(`${given} is not a valid ${parameter}: ${detail}.`, options)
    this.name = 'InvalidNameError'
  }
}

/** The server answered something that the operation never answers: another version, or no Gatehouse. */
export class UnexpectedAnswerError extends Error {
  constructor(operation: string, detail: string, options: { readonly cause?: unknown } = {}) {
    super(`The answer to ${operation} is not what this version expects: ${detail}`, options)
    this.name = 'UnexpectedAnswerError'
  }
}

type Fields = Readonly<Record<string, unknown>>

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Entries of a list whose named fields are texts; others are left out. */
const entriesOf = <K extends string>(value: unknown, ...names: readonly K[]) =>
  (Array.isArray(value) ? (value as unknown[]) : [])
    .filter(isFields)
    .filter((entry) => names.every((name) => typeof entry[name] === 'string')) as unknown as Record<
    K,
    string
  >[]

/** A problem document, field by field: it may have come from anything that listens at the address. */
function parseProblem(body: unknown, status: number): ClientProblem | null {
  if (!isFields(body)) return null
  const { code, detail, errors, current } = body
  if (typeof code !== 'string' || typeof detail !== 'string') return null
  return {
    type: textOf(body['type']),
    title: textOf(body['title']),
    status,
    detail,
    code,
    request_id: textOf(body['request_id']),
    recovery: entriesOf(body['recovery'], 'action', 'description'),
    ...(errors === undefined ? {} : { errors: entriesOf(errors, 'pointer', 'detail') }),
    ...(current === undefined ? {} : { current }),
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** The problem of an answer; whatever else stands where a problem document should is described. */
export async function readError(response: Answer): Promise<ClientError> {
  const { status } = response
  const problem = parseProblem(parsed(await response.text()), status)
  if (problem) return new ClientError(status, problem)
  return new ClientError(status, {
    type: 'about:blank',
    title: 'Unexpected answer',
    status,
    detail: `The server answered ${status} without saying why.`,
    code: 'InternalError',
    request_id: response.headers.get('gatehouse-request-id') ?? '',
    recovery: [],
  })
}
