import type { Secrets } from '../../ports/secrets.ts'
import type { Authorization } from './discover.ts'

/** A login that was begun, and what its answer is checked with. */
export type Pending = {
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

type Part = 'pending' | 'login' | 'access_token' | 'refresh_token' | 'client_secret'

const all = ['pending', 'login', 'access_token', 'refresh_token', 'client_secret'] as const

/** No variable and no header has a colon in its name, so no credential of a person stands here. */
const secretOf = (name: string, part: Part): string => `service:upstream.${name}:${part}`

/** What is kept of logins; nothing of it lies anywhere else. */
export class LoginVault {
  readonly #secrets: Pick<Secrets, 'use' | 'keepForService' | 'forgetForService'>

  constructor(secrets: Pick<Secrets, 'use' | 'keepForService' | 'forgetForService'>) {
    this.#secrets = secrets
  }

  /** Raises `SecretNotAllowed` where it is not there. `host` is where the value goes. */
  read(name: string, part: Part, host: string | null): Promise<string> {
    const use = { agent: null, capability: `service:upstream.${name}`, host }
    return this.#secrets.use({ ...use, name: secretOf(name, part) }, async (value) => value)
  }

  /** Reads it again at once: what was used is what answers are scrubbed of. */
  async keep(name: string, part: Part, value: string): Promise<void> {
    await this.#secrets.keepForService(secretOf(name, part), value)
    await this.read(name, part, null)
  }

  async forget(name: string, parts: readonly Part[] = all): Promise<void> {
    for (const part of parts) await this.#secrets.forgetForService(secretOf(name, part))
  }
}
