import type { Approval, BufferedWrite, Problem } from '@gatehouse/contract'
import type { Answer } from './send.ts'

/** A problem document; `current` is the record as it stands, for whoever decided too late. */
export type ClientProblem = Problem & { readonly current?: Approval | BufferedWrite }

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

const isProblem = (value: unknown): value is ClientProblem =>
  typeof value === 'object' && value !== null && 'code' in value && 'detail' in value

/** The problem of an answer; whatever else stands where a problem document should is described. */
export async function readError(response: Answer): Promise<ClientError> {
  const { status } = response
  const text = await response.text()
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    body = undefined
  }
  if (isProblem(body)) return new ClientError(status, body)
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
