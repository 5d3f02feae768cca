import { GatehouseError } from '@gatehouse/contract'
import { loadClient } from './load-client.ts'

/** Codes are words of the standard; anything else is somebody's text. */
const codeOf = (code: string): string => (/^[a-z_]{1,40}$/.test(code) ? code : 'an unknown error')

/**
 * Failure with an authorization server, as it is reported. The errors of the client are not passed on: their texts
 * may hold whole answers, and with them tokens.
 * @SECURITY Neither as message nor as cause; oauth-hostile.test.ts.
 */
export async function loginFailure(
  upstream: string,
  cause: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  if (signal.aborted) return signal.reason
  if (cause instanceof GatehouseError) return fromWayOut(upstream, cause)
  const client = await loadClient()
  const refused = (detail: string) =>
    new GatehouseError('UpstreamLoginRefused', { upstream, detail })
  if (cause instanceof client.IssuerMismatchError)
    return refused('the answer comes from another authorization server than it says (issuer)')
  if (cause instanceof client.InsecureTokenEndpointError)
    return refused('its authorization server takes codes without https')
  if (cause instanceof client.RegistrationRejectedError)
    return refused(
      `its authorization server registers no client (status ${cause.status}): give one with --client-id`,
    )
  if (cause instanceof client.OAuthError)
    return refused(`its authorization server answers ${codeOf(cause.code)}`)
  return refused('what its authorization server answers makes no sense')
}

const passed: ReadonlySet<string> = new Set([
  'UpstreamLoginRefused',
  'UpstreamFailed',
  'SecretRefused',
  'SecretNotAllowed',
  'VaultLocked',
  'VaultTampered',
])

const fromWayOut = (upstream: string, cause: GatehouseError): GatehouseError =>
  passed.has(cause.type)
    ? cause
    : new GatehouseError(
        'UpstreamFailed',
        { upstream, detail: `the login needs an address that fails: ${cause.message}` },
        { cause },
      )

/** Null for what is no word of the authorization server itself. */
export async function refusalCode(cause: unknown): Promise<string | null> {
  const { OAuthError, OAuthErrorCode } = await loadClient()
  return cause instanceof OAuthError && cause.code !== OAuthErrorCode.ServerError
    ? codeOf(cause.code)
    : null
}
