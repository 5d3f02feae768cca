/** `filesystem.read` → `filesystem`. */
export const groupOf = (capability: string): string => {
  const dot = capability.indexOf('.')
  return dot < 0 ? capability : capability.slice(0, dot)
}

/** The only three patterns that a capability can match, from the narrowest to the widest. */
export const patternsOf = (capability: string): readonly [string, string, string] => [
  capability,
  `${groupOf(capability)}.*`,
  '*',
]

/** Whether everything that `narrow` matches is matched by `wide` too. A capability is a pattern. */
export const covers = (wide: string, narrow: string): boolean =>
  wide === narrow ||
  wide === '*' ||
  (wide.endsWith('.*') && narrow !== '*' && groupOf(narrow) === groupOf(wide))
