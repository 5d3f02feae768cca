export type { Answer } from './answer.ts'
export {
  ClientError,
  type ClientProblem,
  InvalidNameError,
  UnexpectedAnswerError,
  UnreachableError,
} from './client-error.ts'
export { type Client, createClient } from './create-client.ts'
export { type OperationId, operations } from './operations.ts'
export type { ServerEvent } from './read-lines.ts'
export type { ClientOptions, Fetch, FetchInit } from './send.ts'
