import { didYouMean } from '@gatehouse/contract'
import { groupOf } from '../domain/policy/match.ts'

/** Names a rule or a test may speak of, each capability with its arguments (null: not known). */
export type KnownNames = {
  readonly capabilities: ReadonlyMap<string, readonly string[] | null>
  readonly groups: ReadonlySet<string>
  /** Groups that this version of the service brings along: nothing is added to them while it runs. */
  readonly ownGroups: ReadonlySet<string>
}

export const knownNamesOf = (
  capabilities: readonly string[],
  argumentsOf?: (capability: string) => readonly string[],
  isOwn: (capability: string) => boolean = () => true,
): KnownNames => ({
  capabilities: new Map(capabilities.map((name) => [name, argumentsOf?.(name) ?? null])),
  groups: new Set(capabilities.map(groupOf)),
  ownGroups: new Set(capabilities.filter(isOwn).map(groupOf)),
})

export type UnknownName = {
  readonly message: string
  /** A tool of an upstream server may still come; a capability of our own will not. */
  readonly mayCome: boolean
}

/**
 * A group that nobody knows is an upstream server that is not there yet, unless it is a slip away from a group
 * of our own.
 */
const unknownGroup = (match: string, { groups, ownGroups }: KnownNames): UnknownName => {
  const group = groupOf(match)
  const misspelt = didYouMean(group, [...ownGroups])
  if (misspelt !== '')
    return { message: `there is no capability in a group ${group}.${misspelt}`, mayCome: false }
  const similar = didYouMean(group, [...groups])
  return {
    message: `nothing is called ${match} yet: the rule waits for an upstream server ${group}.${similar}`,
    mayCome: true,
  }
}

/** Fault of a name in a rule or a test; null for one that is known. */
export const unknownName = (match: string, names: KnownNames): UnknownName | null => {
  if (match === '*' || names.capabilities.has(match)) return null
  const group = groupOf(match)
  if (!names.groups.has(group)) return unknownGroup(match, names)
  if (match.endsWith('.*')) return null
  const hint = didYouMean(match, [...names.capabilities.keys()])
  if (names.ownGroups.has(group))
    return { message: `there is no capability ${match}.${hint}`, mayCome: false }
  return {
    message: `nothing is called ${match} yet: the rule waits for such a tool.${hint}`,
    mayCome: true,
  }
}

/** Words that people use for a path, and the arguments that they may mean. */
const wordsForPath: ReadonlySet<string> = new Set([
  ...['file', 'files', 'filename', 'file_name', 'filepath', 'file_path', 'folder', 'dir'],
  ...['directory', 'location', 'target', 'paths'],
])
const pathNames = ['path', 'root', 'source', 'destination', 'working_directory']
const listedMax = 12

export const andList = (items: readonly string[]): string =>
  items.length > 1 ? `${items.slice(0, -1).join(', ')} and ${items.at(-1)}` : (items[0] ?? '')

/** The argument that was probably meant, or all there are to choose from. */
const argumentHint = (name: string, known: readonly string[]): string => {
  const similar = didYouMean(name, known)
  if (similar !== '') return similar
  const paths = wordsForPath.has(name) ? pathNames.filter((path) => known.includes(path)) : []
  if (paths.length > 0) return ` Did you mean ${paths.join(' or ')}?`
  if (known.length === 0) return ' It takes no arguments.'
  return known.length > listedMax ? '' : ` Its arguments: ${andList(known)}.`
}

/** Sentence about an argument that nothing of what the pattern matches has. */
export const noArgument = (
  matches: readonly string[],
  name: string,
  known: readonly string[],
): string => {
  const [match = ''] = matches
  if (matches.length > 1)
    return `nothing that the rule matches has an argument ${name}.${didYouMean(name, known)}`
  return match.endsWith('*')
    ? `nothing that ${match} matches has an argument ${name}.${didYouMean(name, known)}`
    : `${match} has no argument ${name}.${argumentHint(name, known)}`
}
