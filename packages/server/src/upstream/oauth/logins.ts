import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { GatehouseError } from '@gatehouse/contract'
import type { FetchLike, OAuthClientInformationMixed } from '@modelcontextprotocol/client'
import type { Clock } from '../../ports/clock.ts'
import type { Outbound } from '../../ports/outbound.ts'
import type { Secrets } from '../../ports/secrets.ts'
import type { Storage } from '../../ports/storage.ts'
import type {
  BegunLogin,
  Login,
  LoginOf,
  LoginOrder,
  UpstreamLogins,
} from '../../ports/upstream-login.ts'
import { type Authorization, discover } from './discover.ts'
import { loadClient } from './load-client.ts'
import { loginFailure } from './login-failure.ts'
import { LoginLease } from './login-lease.ts'
import { keyOf } from './login-of.ts'
import { type Kept, LoginVault, type Pending } from './login-vault.ts'
import { assertSecure, oauthFetch } from './oauth-fetch.ts'
import { revoke } from './revoke.ts'
import { Tokens } from './tokens.ts'

export type LoginDeps = {
  readonly outbound: Outbound
  readonly secrets: Pick<Secrets, 'use' | 'keepForService' | 'forgetForService'>
  readonly clock: Clock
  readonly storage: Pick<Storage, 'meta'>
  /** Name of this node. */
  readonly node: string
  /** Address of a description of this client (client id metadata document), where there is one. */
  readonly clientMetadataUrl: string | null
}

type Server = { readonly name: string; readonly url: string }
type Client = { readonly id: string; readonly secret: string | null }

const pendingMs = 10 * 60_000
const revokeMs = 10_000

const refused = (upstream: string, detail: string): GatehouseError =>
  new GatehouseError('UpstreamLoginRefused', { upstream, detail })

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
const isSame = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))

const informationOf = ({ id, secret }: Client): OAuthClientInformationMixed => ({
  client_id: id,
  ...(secret === null ? {} : { client_secret: secret }),
})

const scopesOf = (text: string | null | undefined): readonly string[] =>
  (text ?? '').split(' ').filter(Boolean).slice(0, 100)

/** Logins at servers behind the gate, by the pieces of the official client. */
export class Logins implements UpstreamLogins {
  readonly tokens: Tokens
  readonly #deps: LoginDeps
  readonly #vault: LoginVault
  readonly #lease: LoginLease
  /** Servers with a login that is finished right now. */
  readonly #finishing = new Set<string>()

  constructor(deps: LoginDeps) {
    this.#deps = deps
    this.#vault = new LoginVault(deps.secrets)
    this.#lease = new LoginLease(deps)
    this.tokens = new Tokens({ ...deps, vault: this.#vault, lease: this.#lease })
  }

  async begin(order: LoginOrder, signal: AbortSignal): Promise<BegunLogin> {
    try {
      return await this.#begin(order, oauthFetch(this.#deps.outbound, order, signal))
    } catch (cause) {
      throw await loginFailure(order.name, cause, signal)
    }
  }

  async finish(
    server: Server,
    redirected: string,
    signal: AbortSignal,
  ): Promise<Login & Pick<LoginOf, 'agent'>> {
    const { name } = server
    if (this.#finishing.has(name)) throw refused(name, 'another login is being finished')
    this.#finishing.add(name)
    try {
      return await this.#finish(server, new URL(redirected), signal)
    } catch (cause) {
      throw await loginFailure(name, cause, signal)
    } finally {
      this.#finishing.delete(name)
    }
  }

  async end(login: LoginOf): Promise<{ readonly revoked: boolean }> {
    await this.tokens.drop(login)
    return await this.#lease.hold(keyOf(login), async () => {
      // A login that is not there, or can't be read, is not revoked; it is deleted all the same.
      const revoked = await this.#revoke(login).catch(() => false)
      await this.#vault.forget(login)
      await this.#vault.forgetPending(login.name)
      return { revoked }
    })
  }

  async #begin(order: LoginOrder, fetch: FetchLike): Promise<BegunLogin> {
    const { name, agent, url, redirect_url } = order
    const authorization = await this.#authorization(order, fetch)
    const client = order.client ?? (await this.#register(order, authorization, fetch))
    const { metadata, server, resource, scope } = authorization
    const state = randomBytes(32).toString('base64url')
    const { startAuthorization } = await loadClient()
    const { authorizationUrl, codeVerifier } = await startAuthorization(server, {
      ...{ metadata, state, resource, redirectUrl: redirect_url },
      clientInformation: informationOf(client),
      ...(scope === null ? {} : { scope }),
    })
    assertSecure(name, authorizationUrl)
    const expires_ms = this.#deps.clock.wall() + pendingMs
    const pending: Pending = {
      ...{ agent, url, redirect_url, state, authorization, expires_ms, verifier: codeVerifier },
      client_id: client.id,
      client_secret: client.secret,
    }
    await this.#vault.keepPending(name, pending)
    return { address: authorizationUrl.href, state, issuer: metadata.issuer, expires_ms }
  }

  /** Asks without a token: the refusal says where one is to be had. */
  async #authorization({ name, url }: LoginOrder, fetch: FetchLike): Promise<Authorization> {
    const challenge = await fetch(url, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    })
    await challenge.body?.cancel()
    const found = await discover({ name, url }, challenge, fetch)
    if (found === null) throw refused(name, 'it wants no login, or one of another kind than OAuth')
    return found
  }

  async #register(
    { name, redirect_url }: LoginOrder,
    { server, metadata, scope }: Authorization,
    fetchFn: FetchLike,
  ): Promise<Client> {
    const { clientMetadataUrl } = this.#deps
    if (metadata.client_id_metadata_document_supported && clientMetadataUrl !== null)
      return { id: clientMetadataUrl, secret: null }
    if (metadata.registration_endpoint === undefined)
      throw refused(name, 'its authorization server registers no clients: give one by --client-id')
    const { registerClient } = await loadClient()
    const registered = await registerClient(server, {
      ...{ metadata, fetchFn },
      clientMetadata: {
        client_name: 'Gatehouse',
        redirect_uris: [redirect_url],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        // One whose answers a page takes is no program on the machine of the person.
        application_type: redirect_url.startsWith('https:') ? 'web' : 'native',
      },
      ...(scope === null ? {} : { scope }),
    })
    return { id: registered.client_id, secret: registered.client_secret ?? null }
  }

  /** @SECURITY Each answer is taken once, and only the one that was asked for; oauth-hostile.test.ts. */
  async #finish(server: Server, redirected: URL, signal: AbortSignal) {
    const { name, url } = server
    const pending = await this.#pending(name)
    const login = { name, agent: pending.agent ?? null }
    if (pending.url !== url || this.#deps.clock.wall() >= pending.expires_ms)
      throw refused(name, 'the login has expired')
    const { searchParams, origin, pathname } = redirected
    if (`${origin}${pathname}` !== pending.redirect_url)
      throw refused(name, `the address does not begin with ${pending.redirect_url}`)
    if (!isSame(searchParams.get('state') ?? '', pending.state))
      throw refused(name, 'the answer is not one to this login (state)')
    await this.#vault.forgetPending(name)
    const { authorization, client_id, client_secret } = pending
    const tokens = await this.#exchange(server, pending, searchParams, signal)
    await this.tokens.drop(login)
    await this.#lease.hold(keyOf(login), async () => {
      if (client_secret === null) await this.#vault.forget(login, ['client_secret'])
      else await this.#vault.keep(login, 'client_secret', client_secret)
      const kept = { url, authorization, client_id, has_secret: client_secret !== null }
      if (tokens.refresh_token === undefined) await this.#vault.forget(login, ['refresh_token'])
      await this.tokens.keep(login, kept, tokens)
    })
    const { issuer } = authorization.metadata
    const { agent } = login
    return { agent, issuer, client_id, scopes: scopesOf(tokens.scope ?? authorization.scope) }
  }

  async #exchange(server: Server, pending: Pending, answer: URLSearchParams, signal: AbortSignal) {
    const { authorization, verifier, redirect_url, client_id, client_secret } = pending
    const { metadata } = authorization
    const client = await loadClient()
    const iss = answer.get('iss') ?? undefined
    // First of all: of an answer that comes from elsewhere nothing is believed, not even the error.
    client.validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata.issuer,
      issParameterSupported: metadata['authorization_response_iss_parameter_supported'] === true,
    })
    const error = answer.get('error')
    if (error !== null) throw new client.OAuthError(error, 'the authorization server refuses')
    const code = answer.get('code')
    if (!code) throw refused(server.name, 'the address holds no code')
    return await client.exchangeAuthorization(authorization.server, {
      ...{ metadata, authorizationCode: code, codeVerifier: verifier, redirectUri: redirect_url },
      ...(iss === undefined ? {} : { iss }),
      clientInformation: informationOf({ id: client_id, secret: client_secret }),
      resource: authorization.resource,
      fetchFn: oauthFetch(this.#deps.outbound, server, signal),
    })
  }

  async #pending(name: string): Promise<Pending> {
    try {
      return await this.#vault.pending(name)
    } catch (cause) {
      if (cause instanceof GatehouseError && cause.type === 'SecretNotAllowed')
        throw refused(name, 'no login was begun, or it is finished')
      throw cause
    }
  }

  async #revoke(login: LoginOf): Promise<boolean> {
    const kept = JSON.parse(await this.#vault.read(login, 'login', null)) as Kept
    const { revocation } = kept.authorization
    if (revocation === null) return false
    const { host } = new URL(revocation)
    const read = async (hint: 'refresh_token' | 'access_token') => ({
      hint,
      token: await this.#vault.read(login, hint, host),
    })
    const tokens = [
      ...(kept.refreshable ? [await read('refresh_token')] : []),
      await read('access_token'),
    ]
    const client_secret = kept.has_secret
      ? await this.#vault.read(login, 'client_secret', host)
      : null
    const { outbound } = this.#deps
    const fetch = oauthFetch(
      outbound,
      { name: login.name, url: kept.url },
      AbortSignal.timeout(revokeMs),
    )
    return await revoke({ kept, client_secret, tokens }, fetch)
  }
}
