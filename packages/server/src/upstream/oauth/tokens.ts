import { GatehouseError } from '@gatehouse/contract'
import type { OAuthTokens } from '@modelcontextprotocol/client'
import type { Clock } from '../../ports/clock.ts'
import type { Outbound } from '../../ports/outbound.ts'
import { loadClient } from './load-client.ts'
import { refusalCode } from './login-failure.ts'
import type { LoginLease } from './login-lease.ts'
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
  async open(name: string, url: string): Promise<void> {
    await this.#renewing.get(name)?.catch(() => {})
    this.#sessions.set(name, await this.#read(name, url))
  }

  /** One that is good for the next request. Raises `UpstreamFailed` where there is none. */
  async current(name: string): Promise<string> {
    const session = this.#session(name)
    return this.#isFresh(session) ? session.token : await this.renew(name, session.token)
  }

  /** Another one than that which was used: renewed by now, or renewed for this. */
  renew(name: string, used: string): Promise<string> {
    const running = this.#renewing.get(name)
    if (running) return running
    const session = this.#session(name)
    if (session.token !== used) return Promise.resolve(session.token)
    const renewing = this.#deps.lease
      .hold(name, () => this.#renewOnce(name, session))
      .finally(() => this.#renewing.delete(name))
    this.#renewing.set(name, renewing)
    return renewing
  }

  /** Nothing is renewed any more when this resolves. */
  async drop(name: string): Promise<void> {
    this.#sessions.delete(name)
    await this.#renewing.get(name)?.catch(() => {})
    this.#sessions.delete(name)
  }

  /** Keeps tokens that a server has just given. The one for renewing goes first: the other can be had again. */
  async keep(
    name: string,
    login: Omit<Kept, 'refreshable' | 'expires_ms' | 'lifetime_ms'>,
    tokens: OAuthTokens,
  ): Promise<string> {
    const { vault, clock } = this.#deps
    const { access_token: token, refresh_token, expires_in, token_type } = tokens
    if (token_type.toLowerCase() !== 'bearer' || !asHeader.test(token))
      throw failed(name, 'its authorization server gives tokens of a kind that is not known here')
    const lifetime_ms = expires_in === undefined ? null : Math.max(0, expires_in) * 1_000
    const kept = {
      ...login,
      refreshable: refresh_token !== undefined,
      lifetime_ms,
      expires_ms: lifetime_ms === null ? null : clock.wall() + lifetime_ms,
    }
    if (refresh_token !== undefined) await vault.keep(name, 'refresh_token', refresh_token)
    await vault.keep(name, 'access_token', token)
    await vault.keep(name, 'login', JSON.stringify(kept))
    this.#sessions.set(name, { kept, token })
    return token
  }

  #session(name: string): Session {
    const session = this.#sessions.get(name)
    if (!session) throw failed(name, `it wants a login: gatehouse upstream login ${name}`)
    return session
  }

  async #read(name: string, url: string): Promise<Session> {
    const { vault } = this.#deps
    const kept = JSON.parse(await vault.read(name, 'login', null)) as Kept
    if (kept.url !== url) throw failed(name, `it moved: gatehouse upstream login ${name}`)
    return { kept, token: await vault.read(name, 'access_token', new URL(url).host) }
  }

  #isFresh({ kept: { expires_ms, lifetime_ms } }: Session): boolean {
    if (expires_ms === null) return true
    const ahead = Math.min(aheadMs, (lifetime_ms ?? 0) / 10)
    return this.#deps.clock.wall() < expires_ms - ahead
  }

  /** Another node may have renewed it, logged in anew or logged out since it was read here. */
  async #renewOnce(name: string, known: Session): Promise<string> {
    const found = await this.#read(name, known.kept.url).catch((cause: unknown) => {
      const isGone = cause instanceof GatehouseError && cause.type === 'SecretNotAllowed'
      throw isGone ? failed(name, `it wants a login: gatehouse upstream login ${name}`) : cause
    })
    if (found.token === known.token || !this.#isFresh(found)) return this.#renew(name, found)
    this.#sessions.set(name, found)
    return found.token
  }

  /** @SECURITY One request at a time: a refresh token that is used twice is taken for stolen; oauth.test.ts. */
  async #renew(name: string, { kept }: Session): Promise<string> {
    const { vault, outbound } = this.#deps
    const { server, metadata, resource } = kept.authorization
    if (!kept.refreshable)
      throw failed(name, `its login has expired: gatehouse upstream login ${name}`)
    const { host } = new URL(metadata.token_endpoint)
    const refreshToken = await vault.read(name, 'refresh_token', host)
    const client_secret = kept.has_secret ? await vault.read(name, 'client_secret', host) : null
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
          ? `its login could not be renewed, since ${host} does not answer as it should; if that lasts: gatehouse upstream login ${name}`
          : `its login has ended (${code}): gatehouse upstream login ${name}`,
      )
    }
    return await this.keep(name, kept, tokens)
  }
}
