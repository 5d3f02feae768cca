import { GatehouseError } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import { accessOf } from '../../domain/upstream/access.ts'
import type { Accepted, Seen } from '../../domain/upstream/pins.ts'
import type { StoredUpstream, UpstreamConfig, UpstreamOrder } from '../../ports/upstream.ts'
import type { Login } from '../../ports/upstream-login.ts'

export type DoneLogin = { readonly state: 'done'; readonly at_ms: number } & Login

/** `needed`: it can't be used before a person has logged in to it. */
export type LoginState = { readonly state: 'needed' } | DoneLogin

export type AgentLogins = Readonly<Record<string, DoneLogin>>

/** A server as it is worked with: the texts of its row, read. */
export type UpstreamRecord = Omit<StoredUpstream, 'config_json' | 'accepted_json' | 'seen_json'> & {
  readonly config: UpstreamConfig
  readonly accepted: Accepted
  readonly seen: Seen | null
  /** Null for a server that wants no login, or none that is known yet. */
  readonly login: LoginState | null
  /** Of agents that have a login of their own. */
  readonly agent_logins: AgentLogins
}

type StoredConfig = UpstreamConfig & {
  readonly login?: LoginState | null
  readonly agent_logins?: AgentLogins
}

export const readRow = ({
  config_json,
  accepted_json,
  seen_json,
  ...row
}: StoredUpstream): UpstreamRecord => {
  const {
    login = null,
    agent_logins = {},
    ...config
  } = parseStored<StoredConfig>(config_json, 'upstreams.config_json')
  return {
    ...row,
    config,
    login,
    agent_logins,
    accepted: parseStored<Accepted>(accepted_json, 'upstreams.accepted_json'),
    seen: seen_json === null ? null : parseStored<Seen>(seen_json, 'upstreams.seen_json'),
  }
}

/** How a connection of it is ordered. Raises `UpstreamCredentialMissing`. */
export const orderOf = (
  { name, config, login, agent_logins, accepted }: UpstreamRecord,
  agent: string | null,
): UpstreamOrder => {
  const entrances = {
    ...config,
    logged_in: login?.state === 'done',
    agents_logged_in: Object.keys(agent_logins),
  }
  const access = accessOf(entrances, config.per_agent ? agent : null)
  if (access === null)
    throw new GatehouseError('UpstreamCredentialMissing', { upstream: name, agent })
  return { name, agent, config, access, certificate: accepted.certificate ?? null }
}

export const toRow = ({
  config,
  login,
  agent_logins,
  accepted,
  seen,
  ...row
}: UpstreamRecord): StoredUpstream => ({
  ...row,
  config_json: JSON.stringify({
    ...config,
    ...(login === null ? {} : { login }),
    ...(Object.keys(agent_logins).length === 0 ? {} : { agent_logins }),
  }),
  accepted_json: JSON.stringify(accepted),
  seen_json: seen === null ? null : JSON.stringify(seen),
})
