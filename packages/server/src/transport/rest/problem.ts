import {
  type ErrorType,
  errorTable,
  type Facts,
  GatehouseError,
  type Problem,
} from '@gatehouse/contract'

/** A part of the request that does not fit: a JSON pointer into the body, or `?name` for the query. */
export type Pointed = { readonly pointer: string; readonly detail: string }

export type ProblemDocument = Problem & { readonly current?: unknown }

const titleOf = (type: ErrorType): string => {
  const words = type.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export function createProblem(
  error: GatehouseError,
  requestId: string,
  extra: { readonly current?: unknown; readonly errors?: readonly Pointed[] } = {},
): ProblemDocument {
  return {
    type: `urn:gatehouse:error:${error.type}`,
    title: titleOf(error.type),
    status: errorTable[error.type].http,
    detail: error.message,
    code: error.type,
    request_id: requestId,
    recovery: error.stepsOfPeople.map(({ action, description }) => ({ action, description })),
    ...(extra.errors ? { errors: [...extra.errors] } : {}),
    ...(extra.current === undefined ? {} : { current: extra.current }),
  }
}

/** Failure in a form that may leave the process: an unknown fault becomes a number in the log. */
export function toGatehouseError(thrown: unknown, requestId: string): GatehouseError {
  if (thrown instanceof GatehouseError && thrown.type !== 'InternalError') return thrown
  // @SECURITY Neither message nor stack of an unknown fault leaves the process; rest/errors.test.ts fails without it.
  return new GatehouseError('InternalError', { correlation_id: requestId }, { cause: thrown })
}

/** Only headers that help a caller to do the right thing next. */
function headersOf(type: ErrorType, facts: Facts): Record<string, string> {
  const { http } = errorTable[type]
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' }
  if (http === 401) headers['www-authenticate'] = 'Bearer realm="gatehouse"'
  if (http === 405 && typeof facts.allowed === 'string') headers.allow = facts.allowed
  const known = facts.retry_after_seconds
  const usual = http === 429 ? 60 : 1
  if (http === 429 || http === 503)
    headers['retry-after'] = String(typeof known === 'number' ? known : usual)
  return headers
}

export function problemResponse(
  error: GatehouseError,
  requestId: string,
  extra: { readonly current?: unknown; readonly errors?: readonly Pointed[] } = {},
): Response {
  const document = createProblem(error, requestId, extra)
  return new Response(JSON.stringify(document), {
    status: document.status,
    headers: headersOf(error.type, error.facts),
  })
}
