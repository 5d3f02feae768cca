import { GatehouseError } from '@gatehouse/contract'
import type { FetchLike } from '@modelcontextprotocol/client'
import type { KeptOutbound, Outbound } from '../../ports/outbound.ts'
import type { LoginOf } from '../../ports/upstream-login.ts'
import { outboundFetch } from '../outbound-fetch.ts'
import { wantsLogin } from './discover.ts'
import { commandOf } from './login-of.ts'
import { oauthFetch } from './oauth-fetch.ts'
import { failed, type Tokens } from './tokens.ts'

export type WayOptions = {
  readonly outbound: Outbound
  /** Connections to the server itself. */
  readonly kept: KeptOutbound
  readonly tokens: Tokens
  readonly name: string
  readonly url: URL
  /** Headers that a person gave for this server. */
  readonly credentials: Readonly<Record<string, string>>
  /** Null where nobody has logged in. */
  readonly login: LoginOf | null
  readonly signal: AbortSignal
}

/** The way to a server over HTTP, with whatever it wants to see. */
export type Way = {
  readonly fetch: FetchLike
  /** Why the server can't be used without a person; null while it can. */
  failure(): GatehouseError | null
  /** Called once with that. */
  onFailure(listener: () => void): void
}

export const createWay = (options: WayOptions): Way => {
  let failure: GatehouseError | null = null
  let listener: () => void = () => {}
  const noted = (cause: unknown): unknown => {
    if (failure === null && cause instanceof GatehouseError) {
      failure = cause
      // After the request that met it has failed by itself.
      setImmediate(() => listener())
    }
    return cause
  }
  const inner =
    'authorization' in options.credentials
      ? plain(options)
      : options.login
        ? withToken(options, options.login, noted)
        : withoutToken(options, noted)
  return {
    fetch: inner,
    failure: () => failure,
    onFailure: (given) => {
      listener = given
    },
  }
}

/** @SECURITY Tokens and credentials go to the server's own origin; oauth-hostile.test.ts. */
const plain = ({ kept, url, credentials }: WayOptions, token?: string): FetchLike => {
  const headers =
    token === undefined ? credentials : { ...credentials, authorization: `Bearer ${token}` }
  return outboundFetch(kept, {
    credentials: (to) => (to.origin === url.origin ? headers : {}),
  })
}

const withoutToken = (options: WayOptions, noted: (cause: unknown) => unknown): FetchLike => {
  const { outbound, name, url, signal } = options
  const fetch = plain(options)
  return async (given, init) => {
    const answer = await fetch(given, init)
    if (answer.status !== 401) return answer
    const server = { name, url: url.href }
    if (await wantsLogin(server, answer, oauthFetch(outbound, server, signal)))
      throw noted(new GatehouseError('UpstreamNeedsLogin', { upstream: name }))
    return answer
  }
}

const withToken = (
  options: WayOptions,
  login: LoginOf,
  noted: (cause: unknown) => unknown,
): FetchLike => {
  const { tokens, name } = options
  const orNoted = async (token: Promise<string>): Promise<string> => {
    try {
      return await token
    } catch (cause) {
      throw noted(cause)
    }
  }
  return async (given, init) => {
    const token = await orNoted(tokens.current(login))
    const answer = await plain(options, token)(given, init)
    if (answer.status !== 401) return answer
    await answer.body?.cancel()
    // The token may have been taken back before its time.
    const next = await orNoted(tokens.renew(login, token))
    const second = await plain(options, next)(given, init)
    if (second.status !== 401) return second
    await second.body?.cancel()
    throw noted(failed(name, `it takes its tokens no more: ${commandOf(login)}`))
  }
}
