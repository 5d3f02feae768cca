export type { Answer } from './answer.ts'
export { type Client, createClient } from './client.ts'
export {
  ClientError,
  type ClientProblem,
  InvalidNameError,
  UnexpectedAnswerError,
  UnreachableError,
} from './client-error.ts'
export type { ServerEvent } from './read-lines.ts'
export type { ClientOptions, Fetch, FetchInit } from './send.ts'
