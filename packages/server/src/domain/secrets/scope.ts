/** A use as scopes see it: `agent` null is the service itself. */
export type WantedUse = {
  readonly agent: string | null
  readonly capability: string
  readonly host: string | null
}

export type UseVerdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: string }

/** Scope as a secret names it; an empty list allows nothing. */
export type Scope = {
  readonly capabilities: readonly string[]
  readonly hosts: readonly string[]
  readonly agents: readonly string[]
}

/** Names of the service's own secrets; no name that a person may give begins so. */
export const servicePrefix = 'service:'

/** As URLs are compared: case, the dot of the root and the usual port make no difference. */
const foldHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/:443$/, '')
    .replace(/\.(?=$|:\d+$)/, '')

const hostMatches = (pattern: string, host: string): boolean => {
  const wanted = foldHost(pattern)
  const given = foldHost(host)
  // The star stands for at least one character: the parent itself is another host.
  return wanted.startsWith('*.')
    ? given.length > wanted.length - 1 && given.endsWith(wanted.slice(1)) && !given.startsWith('.')
    : given === wanted
}

const capabilityMatches = (pattern: string, capability: string): boolean =>
  pattern.endsWith('.*') ? capability.startsWith(pattern.slice(0, -1)) : capability === pattern

const list = (entries: readonly string[]): string =>
  entries.length === 0 ? 'none' : entries.join(', ')

/**
 * Whether a scope lets a secret be used so. Nothing is allowed that is not named.
 * @SECURITY Deny by default; scope.test.ts.
 */
export function decideUse(name: string, scope: Scope, use: WantedUse): UseVerdict {
  const refused = (reason: string): UseVerdict => ({ allowed: false, reason })
  const own = name.startsWith(servicePrefix)
  if (use.agent !== null && own) return refused('it belongs to the service itself')
  if (own)
    return use.capability.startsWith(servicePrefix)
      ? { allowed: true }
      : refused('only a connection of the service uses it')
  if (use.agent !== null && !scope.agents.some((agent) => agent === '*' || agent === use.agent))
    return refused(`its agents are ${list(scope.agents)}`)
  if (!scope.capabilities.some((pattern) => capabilityMatches(pattern, use.capability)))
    return refused(`its capabilities are ${list(scope.capabilities)}`)
  const { host } = use
  if (host === null)
    return scope.hosts.length === 0
      ? { allowed: true }
      : refused(`it is bound to hosts (${list(scope.hosts)}), and this use names none`)
  return scope.hosts.some((pattern) => hostMatches(pattern, host))
    ? { allowed: true }
    : refused(`its hosts are ${list(scope.hosts)}`)
}

/** Whether an agent may use it anywhere at all. */
export const isFor = (name: string, scope: Scope, agent: string): boolean =>
  !name.startsWith(servicePrefix) &&
  scope.capabilities.length > 0 &&
  scope.agents.some((allowed) => allowed === '*' || allowed === agent)
