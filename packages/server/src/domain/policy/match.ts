/** `filesystem.read` → `filesystem`. */
export const groupOf = (capability: string): string => {
  const dot = capability.indexOf('.')
  return dot < 0 ? capability : capability.slice(0, dot)
}

/**
 * The agent's view of itself: who it is, its own requests, and its tools. A rule for `*` and a tool set leave
 * them out, since an agent that may not ask what became of a request can neither wait for it nor withdraw it.
 */
export const isOwnView = (name: string): boolean =>
  ['approvals', 'tools'].includes(groupOf(name)) || name === 'agent.whoami'

/** Patterns of rules that leave nothing out. */
export const everyPattern = ['*', 'approvals.*', 'tools.*', 'agent.whoami'] as const

/** The patterns that a capability can match, from the narrowest to the widest; at most three. */
export const patternsOf = (capability: string): readonly string[] => [
  capability,
  `${groupOf(capability)}.*`,
  '*',
]

/** Patterns of rules that could match the capability. */
export const rulePatternsOf = (capability: string): readonly string[] =>
  isOwnView(capability) ? [capability, `${groupOf(capability)}.*`] : patternsOf(capability)

/** Whether every rule for `wide` decides what one for `narrow` does. A capability is a pattern. */
export const covers = (wide: string, narrow: string): boolean =>
  wide === narrow ||
  (wide === '*' && !isOwnView(narrow)) ||
  (wide.endsWith('.*') && narrow !== '*' && groupOf(narrow) === groupOf(wide))
