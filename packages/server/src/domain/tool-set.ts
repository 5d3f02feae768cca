import { parseGlob } from './glob.ts'
import { groupOf, isOwnView } from './policy/match.ts'

type Matches = (name: string) => boolean

const matcherOf = (pattern: string): Matches => {
  const group = parseGlob(groupOf(pattern))
  const action = parseGlob(pattern.slice(groupOf(pattern).length + 1))
  return (name) =>
    group.matches(groupOf(name)) && action.matches(name.slice(groupOf(name).length + 1))
}

/** A set never changes: another one is another list. */
const known = new WeakMap<readonly string[], readonly Matches[]>()

const matchersOf = (tools: readonly string[]): readonly Matches[] => {
  const before = known.get(tools)
  if (before) return before
  const made = tools.map(matcherOf)
  known.set(tools, made)
  return made
}

/** The set as it is kept: no pattern twice, and none at all where one of them is `*`. */
export const toolSetOf = (patterns: readonly string[]): readonly string[] =>
  patterns.includes('*') ? [] : [...new Set(patterns)]

/** Whether an agent with this tool set may see and call the capability, as far as the set goes. */
export const inToolSet = (tools: readonly string[], name: string): boolean =>
  tools.length === 0 || isOwnView(name) || matchersOf(tools).some((matches) => matches(name))

/** Patterns of the set that match none of the names. */
export const unmatchedIn = (
  tools: readonly string[],
  names: readonly string[],
): readonly string[] => tools.filter((_, i) => !names.some((name) => matchersOf(tools)[i]?.(name)))
