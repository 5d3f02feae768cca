import { GatehouseError } from '@gatehouse/contract'

const codeOf = (cause: unknown): string => {
  const code = (cause as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

const tlsCodes =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|EPROTO$)/
const answerCodes = /^HPE_/

/** The errors of everything below, as the port names them. Whatever is not dialled reads like what is not there. */
export const failureOf = (cause: unknown, host: string): unknown => {
  if (cause instanceof GatehouseError) return cause
  const code = codeOf(cause)
  if (tlsCodes.test(code)) return new GatehouseError('TlsFailed', { host, detail: code }, { cause })
  // Without the cause: it carries what was received, which is not for the log.
  if (answerCodes.test(code))
    return new GatehouseError('ResponseRefused', { host, detail: 'it is not sound HTTP' })
  return new GatehouseError('HostUnreachable', { host }, { cause })
}
