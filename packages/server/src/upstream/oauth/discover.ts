import { GatehouseError } from '@gatehouse/contract'
import type { AuthorizationServerMetadata, FetchLike } from '@modelcontextprotocol/client'
import { loadClient } from './load-client.ts'

/** Where and for what a login is done. */
export type Authorization = {
  /** Address of the authorization server, as the MCP server names it. */
  readonly server: string
  readonly metadata: AuthorizationServerMetadata
  /** Where tokens are taken back; null where they can't be. */
  readonly revocation: string | null
  /** Of RFC 8707: what the tokens are for. */
  readonly resource: string
  readonly scope: string | null
}

type Server = { readonly name: string; readonly url: string }

/** Of the metadata, what a login uses: the rest would only be kept. */
const used = [
  ...(['issuer', 'authorization_endpoint', 'token_endpoint', 'registration_endpoint'] as const),
  ...(['response_types_supported', 'scopes_supported'] as const),
  ...(['token_endpoint_auth_methods_supported', 'code_challenge_methods_supported'] as const),
  ...([
    'authorization_response_iss_parameter_supported',
    'client_id_metadata_document_supported',
  ] as const),
] as const

const refused = (upstream: string, detail: string): GatehouseError =>
  new GatehouseError('UpstreamLoginRefused', { upstream, detail })

const usedOf = (metadata: AuthorizationServerMetadata): AuthorizationServerMetadata =>
  Object.fromEntries(
    used.flatMap((key) => (metadata[key] === undefined ? [] : [[key, metadata[key]]])),
  ) as AuthorizationServerMetadata

/** Only one of the two standards for metadata names it. */
const revocationOf = (metadata: object): string | null => {
  const { revocation_endpoint: endpoint } = metadata as { readonly revocation_endpoint?: unknown }
  return typeof endpoint === 'string' && URL.canParse(endpoint) ? endpoint : null
}

const withoutFragment = (address: string): string => {
  const url = new URL(address)
  url.hash = ''
  return url.href
}

/** Null where the server tells of no authorization server. */
export async function discover(
  { name, url }: Server,
  challenge: Response,
  fetch: FetchLike,
): Promise<Authorization | null> {
  const client = await loadClient()
  const { resourceMetadataUrl, scope } = client.extractWWWAuthenticateParams(challenge)
  const found = await client.discoverOAuthServerInfo(url, {
    fetchFn: fetch,
    ...(resourceMetadataUrl ? { resourceMetadataUrl } : {}),
  })
  const { authorizationServerMetadata: metadata, resourceMetadata } = found
  if (!metadata) return null
  // Without it a code that leaks can be redeemed by whoever has it.
  if (!metadata.code_challenge_methods_supported?.includes('S256'))
    throw refused(name, 'its authorization server knows no PKCE with S256')
  if (
    resourceMetadata &&
    !client.checkResourceAllowed({
      requestedResource: url,
      configuredResource: resourceMetadata.resource,
    })
  )
    throw refused(name, 'it asks for tokens of another server')
  const scopes = scope ?? resourceMetadata?.scopes_supported?.join(' ')
  return {
    server: found.authorizationServerUrl,
    metadata: usedOf(metadata),
    revocation: revocationOf(metadata),
    resource: resourceMetadata?.resource ?? withoutFragment(url),
    scope: withRefresh(scopes, metadata.scopes_supported),
  }
}

/** Asks for a refresh token where that is done with a scope. */
const withRefresh = (
  wanted: string | undefined,
  known: readonly string[] | undefined,
): string | null => {
  if (!wanted) return null
  const asks = known?.includes('offline_access') && !wanted.split(' ').includes('offline_access')
  return asks ? `${wanted} offline_access` : wanted
}

/** Whether a refusal is one that a login helps against. */
export async function wantsLogin(
  server: Server,
  challenge: Response,
  fetch: FetchLike,
): Promise<boolean> {
  const { extractWWWAuthenticateParams } = await loadClient()
  if (extractWWWAuthenticateParams(challenge).resourceMetadataUrl) return true
  try {
    return (await discover(server, challenge, fetch)) !== null
  } catch {
    return false
  }
}
