import { GatehouseError } from '@gatehouse/contract'
import {
  InsufficientScopeError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from '@modelcontextprotocol/client'
import { visibleText } from '../domain/upstream/visible-text.ts'
import { missingAnswerIn } from './missing-answer.ts'

export const detailMax = 500

const said: Readonly<Partial<Record<SdkErrorCode, string>>> = {
  [SdkErrorCode.RequestTimeout]: 'it did not answer in time',
  [SdkErrorCode.ConnectionClosed]: 'it closed the connection',
  [SdkErrorCode.InvalidResult]: 'its answer has not the form that the protocol asks for',
  [SdkErrorCode.UnsupportedResultType]: 'it asks for something that only a person could answer',
  [SdkErrorCode.EraNegotiationFailed]: 'it speaks no version of the protocol that is known here',
  [SdkErrorCode.ClientHttpAuthentication]: 'it does not take the credentials',
}

/** Failures of the way to a server, which are told as its own. */
const networkFailures: ReadonlySet<string> = new Set([
  ...['HostUnreachable', 'TlsFailed', 'TimedOut', 'UrlNotAllowed', 'RequestNotAllowed'],
  ...['RedirectRefused', 'ResponseRefused', 'ResponseTooLarge'],
])

/** The server's own error in its words; of everything else what kind of failure it is. */
export const failureText = (cause: unknown): string => {
  const missing = missingAnswerIn(cause)
  if (missing) return missing.message
  if (cause instanceof ProtocolError) {
    const { code, message } = cause
    return `it answered with error ${code}: ${visibleText(message, detailMax)}`
  }
  if (cause instanceof SdkHttpError) return `it answered with status ${cause.status}`
  if (cause instanceof InsufficientScopeError) return 'its login does not reach that far'
  const code = cause instanceof SdkError ? said[cause.code] : undefined
  return code ?? 'the connection failed'
}

/** Answer of the server itself, in a failure of a request; null where none came. */
export const protocolErrorIn = (failure: unknown): ProtocolError | null => {
  const cause = failure instanceof GatehouseError ? failure.cause : null
  return cause instanceof ProtocolError && !missingAnswerIn(cause) ? cause : null
}

/** Whether time was over, which explains a failure whatever became of the connection since. */
export const isLate = (cause: unknown): boolean =>
  cause instanceof SdkError && cause.code === SdkErrorCode.RequestTimeout

/** Whether the server answered that there is no such session. */
export const isUnknownSession = (failure: unknown): boolean =>
  failure instanceof GatehouseError &&
  failure.cause instanceof SdkHttpError &&
  failure.cause.status === 404

export const isOfNetwork = ({ type }: GatehouseError): boolean => networkFailures.has(type)
