import type { Accepted, Seen } from '../../domain/upstream/pins.ts'
import type { StoredUpstream, UpstreamConfig, UpstreamOrder } from '../../ports/upstream.ts'
import type { Login } from '../../ports/upstream-login.ts'

/** `needed`: it can't be used before a person has logged in to it. */
export type LoginState =
  | { readonly state: 'needed' }
  | ({ readonly state: 'done'; readonly at_ms: number } & Login)

/** A server as it is worked with: the texts of its row, read. */
export type UpstreamRecord = Omit<StoredUpstream, 'config_json' | 'accepted_json' | 'seen_json'> & {
  readonly config: UpstreamConfig
  readonly accepted: Accepted
  readonly seen: Seen | null
  /** Null for a server that wants no login, or none that is known yet. */
  readonly login: LoginState | null
}

export const readRow = ({
  config_json,
  accepted_json,
  seen_json,
  ...row
}: StoredUpstream): UpstreamRecord => {
  const { login = null, ...config } = JSON.parse(config_json)
  return {
    ...row,
    config,
    login,
    accepted: JSON.parse(accepted_json),
    seen: seen_json === null ? null : JSON.parse(seen_json),
  }
}

/** How a connection of it is ordered. */
export const orderOf = (
  { name, config, login }: UpstreamRecord,
  agent: string | null,
): UpstreamOrder => ({ name, agent, config, logged_in: login?.state === 'done' })

export const toRow = ({
  config,
  login,
  accepted,
  seen,
  ...row
}: UpstreamRecord): StoredUpstream => ({
  ...row,
  config_json: JSON.stringify(login === null ? config : { ...config, login }),
  accepted_json: JSON.stringify(accepted),
  seen_json: seen === null ? null : JSON.stringify(seen),
})
