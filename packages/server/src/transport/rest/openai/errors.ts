import { errorTable, type GatehouseError } from '@gatehouse/contract'
import { BadRequest } from './requests.ts'

/** The names that programs look for, where there is one. */
const codes: Readonly<Record<string, string>> = {
  ModelNotFound: 'model_not_found',
  PromptTooLong: 'context_length_exceeded',
  AuthenticationFailed: 'invalid_api_key',
  EngineBusy: 'rate_limit_exceeded',
}

const typeOf = (status: number): string => {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}

const statusOf = (error: GatehouseError): number =>
  error.type === 'PromptTooLong' ? 400 : errorTable[error.type].http

/** Error in the shape that clients of this API read. */
export const errorBody = (error: GatehouseError) => ({
  error: {
    message: [
      error.message,
      ...error.recovery.slice(0, 1).map(({ description }) => description),
    ].join(' '),
    type: typeOf(statusOf(error)),
    param: error instanceof BadRequest ? error.param : null,
    code: codes[error.type] ?? error.type,
  },
})

export const errorResponse = (error: GatehouseError): Response =>
  Response.json(errorBody(error), {
    status: statusOf(error),
    // Clients try again by the status alone unless they are told.
    headers: { 'x-should-retry': String(errorTable[error.type].retry) },
  })
