import { GatehouseError } from '@gatehouse/contract'
import type { OAuthTokens } from '@modelcontextprotocol/client'
import type { Clock } from '../../ports/clock.ts'
import type { Outbound } from '../../ports/outbound.ts'
import type { LoginOf } from '../../ports/upstream-login.ts'
import { loadClient } from './load-client.ts'
import { refusalCode } from './login-failure.ts'
import type { LoginLease } from './login-lease.ts'
import { commandOf, keyOf } from './login-of.ts'
import type { Kept, LoginVault } from './login-vault.ts'
import { oauthFetch } from './oauth-fetch.ts'

export type TokenDeps = {
  readonly vault: LoginVault
  readonly lease: LoginLease
  readonly outbound: Outbound
  readonly clock: Clock
}

type Session = { readonly kept: Kept; readonly token: string }

/** Renewed ahead of its end by this, or by a tenth of a shorter life. */
const aheadMs = 60_000

const asHeader = /^[\x21-\x7e]{1,16384}$/

export const failed = (upstream: string, detail: string): GatehouseError =>
  new GatehouseError('UpstreamFailed', { upstream, detail })

/** Access tokens of servers that a person has logged in to: kept, and renewed by one request at a time. */
export class Tokens {
  readonly #deps: TokenDeps
  readonly #sessions = new Map<string, Session>()
  readonly #renewing = new Map<string, Promise<string>>()

  constructor(deps: TokenDeps) {
    this.#deps = deps
  }

  /** Reads what is kept; each connection is a use of its own in the log. */
  async open(login: LoginOf, url: string): Promise<void> {
    await this.#renewing.get(keyOf(login))?.catch(() => {})
    this.#sessions.set(keyOf(login), await this.#read(login, url))
  }

  /** One that is good for the next request. Raises `UpstreamFailed` where there is none. */
  async current(login: LoginOf): Promise<string> {
    const session = this.#session(login)
    return this.#isFresh(session) ? session.token : await this.renew(login, session.token)
  }

  /** Another one than that which was used: renewed by now, or renewed for this. */
  renew(login: LoginOf, used: string): Promise<string> {
    const key = keyOf(login)
    const running = this.#renewing.get(key)
    if (running) return running
    const session = this.#session(login)
    if (session.token !== used) return Promise.resolve(session.token)
    const renewing = this.#deps.lease
      .hold(key, () => this.#renewOnce(login, session))
      .finally(() => this.#renewing.delete(key))
    this.#renewing.set(key, renewing)
    return renewing
  }

  /** Nothing is renewed any more when this resolves. */
  async drop(login: LoginOf): Promise<void> {
    const key = keyOf(login)
    this.#sessions.delete(key)
    await this.#renewing.get(key)?.catch(() => {})
    this.#sessions.delete(key)
  }

  /** Keeps tokens that a server has just given. The one for renewing goes first: the other can be had again. */
  async keep(
    login: LoginOf,
    facts: Omit<Kept, 'refreshable' | 'expires_ms' | 'lifetime_ms'>,
    tokens: OAuthTokens,
  ): Promise<string> {
    const { vault, clock } = this.#deps
    const { access_token: token, refresh_token, expires_in, token_type } = tokens
    if (token_type.toLowerCase() !== 'bearer' || !asHeader.test(token))
      throw failed(
        login.name,
        'its authorization server gives tokens of a kind that is not known here',
      )
    const lifetime_ms = expires_in === undefined ? null : Math.max(0, expires_in) * 1_000
    const kept = {
      ...facts,
      refreshable: refresh_token !== undefined,
      lifetime_ms,
      expires_ms: lifetime_ms === null ? null : clock.wall() + lifetime_ms,
    }
    if (refresh_token !== undefined) await vault.keep(login, 'refresh_token', refresh_token)
    await vault.keep(login, 'access_token', token)
    await vault.keep(login, 'login', JSON.stringify(kept))
    this.#sessions.set(keyOf(login), { kept, token })
    return token
  }

  #session(login: LoginOf): Session {
    const session = this.#sessions.get(keyOf(login))
    if (!session) throw failed(login.name, `it wants a login: ${commandOf(login)}`)
    return session
  }

  async #read(login: LoginOf, url: string): Promise<Session> {
    const { vault } = this.#deps
    const kept = JSON.parse(await vault.read(login, 'login', null)) as Kept
    if (kept.url !== url) throw failed(login.name, `it moved: ${commandOf(login)}`)
    return { kept, token: await vault.read(login, 'access_token', new URL(url).host) }
  }

  #isFresh({ kept: { expires_ms, lifetime_ms } }: Session): boolean {
    if (expires_ms === null) return true
    const ahead = Math.min(aheadMs, (lifetime_ms ?? 0) / 10)
    return this.#deps.clock.wall() < expires_ms - ahead
  }

  /** Another node may have renewed it, logged in anew or logged out since it was read here. */
  async #renewOnce(login: LoginOf, known: Session): Promise<string> {
    const found = await this.#read(login, known.kept.url).catch((cause: unknown) => {
      const isGone = cause instanceof GatehouseError && cause.type === 'SecretNotAllowed'
      throw isGone ? failed(login.name, `it wants a login: ${commandOf(login)}`) : cause
    })
    if (found.token === known.token || !this.#isFresh(found)) return this.#renew(login, found)
    this.#sessions.set(keyOf(login), found)
    return found.token
  }

  /** @SECURITY One request at a time: a refresh token that is used twice is taken for stolen; oauth.test.ts. */
  async #renew(login: LoginOf, { kept }: Session): Promise<string> {
    const { vault, outbound } = this.#deps
    const { name } = login
    const { server, metadata, resource } = kept.authorization
    if (!kept.refreshable) throw failed(name, `its login has expired: ${commandOf(login)}`)
    const { host } = new URL(metadata.token_endpoint)
    const refreshToken = await vault.read(login, 'refresh_token', host)
    const client_secret = kept.has_secret ? await vault.read(login, 'client_secret', host) : null
    const client = await loadClient()
    const fetchFn = oauthFetch(outbound, { name, url: kept.url }, new AbortController().signal)
    let tokens: OAuthTokens
    try {
      tokens = await client.refreshAuthorization(server, {
        ...{ metadata, refreshToken, resource, fetchFn },
        clientInformation: {
          client_id: kept.client_id,
          ...(client_secret === null ? {} : { client_secret }),
        },
      })
    } catch (cause) {
      const code = await refusalCode(cause)
      throw failed(
        name,
        code === null
          ? `its login could not be renewed, since ${host} does not answer as it should; if that lasts: ${commandOf(login)}`
          : `its login has ended (${code}): ${commandOf(login)}`,
      )
    }
    return await this.keep(login, kept, tokens)
  }
}
