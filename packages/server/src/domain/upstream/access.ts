/** Names of secrets by the variable or header that carries the value. */
export type CredentialNames = Readonly<Record<string, string>>

/** Credentials that exist for a server. */
export type Entrances = {
  readonly credentials: CredentialNames
  /** Of agents that have their own, by their names. */
  readonly agent_credentials?: Readonly<Record<string, CredentialNames>>
  readonly own_only?: true
  readonly logged_in: boolean
  /** Agents with a login of their own. */
  readonly agents_logged_in: readonly string[]
}

/** Credential of a connection. */
export type Access = {
  /** The agent whose own it is; null for what agents share. */
  readonly owner: string | null
  readonly credentials: CredentialNames
  /** Whether a person has logged in for this owner. */
  readonly logged_in: boolean
}

/** Agents that have something of their own, in the order in which it was given. */
export const ownersOf = ({ agent_credentials = {}, agents_logged_in }: Entrances) => [
  ...new Set([...Object.keys(agent_credentials), ...agents_logged_in]),
]

const ownOf = (entrances: Entrances, owner: string): Access => ({
  owner,
  credentials: entrances.agent_credentials?.[owner] ?? {},
  logged_in: entrances.agents_logged_in.includes(owner),
})

/**
 * Access of an agent: all that is its own, or all that is shared, and never some of both. Null for an agent
 * that is refused. Whoever only looks at a server (`null`) uses what is shared, or else what the first agent has.
 * @SECURITY No agent is let in as another; upstream/own-credentials.test.ts.
 */
export const accessOf = (entrances: Entrances, agent: string | null): Access | null => {
  const owners = ownersOf(entrances)
  if (agent !== null && owners.includes(agent)) return ownOf(entrances, agent)
  const { credentials, logged_in } = entrances
  const [first] = owners
  const isShared = logged_in || Object.keys(credentials).length > 0
  if (agent === null && !isShared && first !== undefined) return ownOf(entrances, first)
  return agent !== null && entrances.own_only ? null : { owner: null, credentials, logged_in }
}
