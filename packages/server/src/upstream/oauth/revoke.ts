import type { FetchLike } from '@modelcontextprotocol/client'
import { loadClient } from './load-client.ts'
import type { Kept } from './login-vault.ts'

type Revoked = {
  readonly kept: Kept
  readonly client_secret: string | null
  readonly tokens: readonly {
    readonly hint: 'access_token' | 'refresh_token'
    readonly token: string
  }[]
}

const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

/** Takes tokens back (RFC 7009). False where the server has no way to, or did not take them back. */
export async function revoke(
  { kept, client_secret, tokens }: Revoked,
  fetch: FetchLike,
): Promise<boolean> {
  const { metadata, revocation } = kept.authorization
  if (revocation === null) return false
  const { selectClientAuthMethod } = await loadClient()
  const client = {
    client_id: kept.client_id,
    ...(client_secret === null ? {} : { client_secret }),
  }
  const method = selectClientAuthMethod(
    client,
    metadata.token_endpoint_auth_methods_supported ?? [],
  )
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' }
  if (method === 'client_secret_basic' && client_secret !== null) {
    const pair = `${formEncoded(kept.client_id)}:${formEncoded(client_secret)}`
    headers['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`
  }
  const asBody = method === 'client_secret_basic' ? {} : client
  for (const { hint, token } of tokens) {
    const body = new URLSearchParams({ token, token_type_hint: hint, ...asBody })
    const answer = await fetch(revocation, { method: 'POST', headers, body })
    await answer.body?.cancel()
    if (!answer.ok) return false
  }
  return true
}
