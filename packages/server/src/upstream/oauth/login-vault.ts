import type { Secrets } from '../../ports/secrets.ts'
import type { LoginOf } from '../../ports/upstream-login.ts'
import type { Authorization } from './discover.ts'
import { keyOf } from './login-of.ts'

/** A login that was begun, and what its answer is checked with. */
export type Pending = {
  /** Null: all that have no login of their own. Not there in one that an older version has begun. */
  readonly agent?: string | null
  readonly url: string
  readonly redirect_url: string
  readonly state: string
  readonly verifier: string
  readonly authorization: Authorization
  readonly client_id: string
  readonly client_secret: string | null
  readonly expires_ms: number
}

/** A login, but for its secrets, which lie beside it so that each is scrubbed by its value. */
export type Kept = {
  readonly url: string
  readonly authorization: Authorization
  readonly client_id: string
  readonly has_secret: boolean
  readonly refreshable: boolean
  /** Of the access token, by the wall clock; null where the server did not say. */
  readonly expires_ms: number | null
  readonly lifetime_ms: number | null
}

type Part = 'login' | 'access_token' | 'refresh_token' | 'client_secret'

const all = ['login', 'access_token', 'refresh_token', 'client_secret'] as const

/** No variable and no header has a colon in its name, so no credential of a person stands here. */
const secretOf = (login: LoginOf, part: Part): string => `service:upstream.${keyOf(login)}:${part}`

/** Of each server one login is under way at a time, whoever it is for. */
const pendingOf = (name: string): string => `service:upstream.${name}:pending`

/** Store of logins; nothing of it lies anywhere else. */
export class LoginVault {
  readonly #secrets: Pick<Secrets, 'use' | 'keepForService' | 'forgetForService'>

  constructor(secrets: Pick<Secrets, 'use' | 'keepForService' | 'forgetForService'>) {
    this.#secrets = secrets
  }

  /** Raises `SecretNotAllowed` where it is not there. `host` is where the value goes. */
  read(login: LoginOf, part: Part, host: string | null): Promise<string> {
    return this.#use(login.name, secretOf(login, part), host)
  }

  keep(login: LoginOf, part: Part, value: string): Promise<void> {
    return this.#keep(login.name, secretOf(login, part), value)
  }

  async forget(login: LoginOf, parts: readonly Part[] = all): Promise<void> {
    for (const part of parts) await this.#secrets.forgetForService(secretOf(login, part))
  }

  /** Raises `SecretNotAllowed` where none was begun. */
  async pending(name: string): Promise<Pending> {
    return JSON.parse(await this.#use(name, pendingOf(name), null)) as Pending
  }

  keepPending(name: string, pending: Pending): Promise<void> {
    return this.#keep(name, pendingOf(name), JSON.stringify(pending))
  }

  forgetPending(name: string): Promise<void> {
    return this.#secrets.forgetForService(pendingOf(name))
  }

  #use(upstream: string, name: string, host: string | null): Promise<string> {
    const use = { name, agent: null, capability: `service:upstream.${upstream}`, host }
    return this.#secrets.use(use, async (value) => value)
  }

  /** Reads it again at once: what was used is what answers are scrubbed of. */
  async #keep(upstream: string, name: string, value: string): Promise<void> {
    await this.#secrets.keepForService(name, value)
    await this.#use(upstream, name, null)
  }
}
