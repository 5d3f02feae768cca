import type { FileEffect, FileMatch, PolicyTier } from '@gatehouse/contract'

/** Effects of a capability on the places that its arguments name. */
type Effects = Readonly<Record<string, readonly FileEffect[]>>

const reads: Effects = { path: ['read'] }
const writes: Effects = { path: ['write'] }
const attaches: Effects = { attachments: ['read'] }

/**
 * Capabilities that do something to files, with the arguments that name the places. `client.*` is left out, since
 * its calls stand for these; so are programs, which see the folders whole.
 */
export const fileEffects: Readonly<Record<string, Effects>> = {
  'filesystem.read': reads,
  'filesystem.list': reads,
  'filesystem.stat': reads,
  'filesystem.search': reads,
  'filesystem.search_content': reads,
  'filesystem.watch': reads,
  'filesystem.write': writes,
  'filesystem.append': writes,
  'filesystem.mkdir': writes,
  'filesystem.restore': writes,
  'filesystem.edit': { path: ['write'], root: ['write'] },
  'filesystem.copy': { source: ['read'], destination: ['write'] },
  'filesystem.move': { source: ['read', 'delete'], destination: ['write'] },
  'filesystem.delete': { path: ['delete'] },
  'git.blame': reads,
  'git.diff': reads,
  'git.log': reads,
  'git.show': reads,
  'git.status': reads,
  'git.push': reads,
  'git.branch': writes,
  'git.clone': writes,
  'git.commit': writes,
  'git.init': writes,
  'git.merge': writes,
  'git.pull': writes,
  'git.restore': writes,
  'network.download': writes,
  'email.draft': attaches,
  'email.forward': attaches,
  'email.reply': attaches,
  'email.send': attaches,
}

const listArguments: ReadonlySet<string> = new Set(['attachments'])

const listOf = <T>(value: T | readonly T[]): readonly T[] =>
  Array.isArray(value) ? value : [value as T]

export const effectsIn = ({ effect }: FileMatch): readonly FileEffect[] => listOf(effect)

/** The folders without their `/**`; empty where the rule is about all places. */
export const foldersIn = ({ under }: FileMatch): readonly string[] =>
  under === undefined ? [] : listOf(under).map((pattern) => pattern.slice(0, -'/**'.length))

/** `write and delete under reports/**`, as rules are named. */
export const nameOf = (match: FileMatch): string => {
  const where = match.under === undefined ? 'anywhere' : `under ${listOf(match.under).join(', ')}`
  return `${effectsIn(match).join(' and ')} ${where}`
}

const quote = (text: string): string => JSON.stringify(text)

/** Whether a place lies below one of the folders, or is one of them where that counts, too. */
const lies = (place: string, folders: readonly string[], orIs: boolean): string =>
  folders
    .flatMap((folder) => [
      ...(orIs ? [`${place} == ${quote(folder)}`] : []),
      `${place}.startsWith(${quote(`${folder}/`)})`,
    ])
    .join(' || ')

const named = (argument: string): string => `has(args.${argument})`

/** Holds where something that the rule is about happens in one of the folders, or to one of them. */
const touches = (names: readonly string[], folders: readonly string[]): string =>
  names
    .map((name) =>
      listArguments.has(name)
        ? `(${named(name)} && args.${name}.exists(place, ${lies('place', folders, true)}))`
        : `(${named(name)} && (${lies(`args.${name}`, folders, true)}))`,
    )
    .join(' || ')

/** Holds where the call names a place, and all that it names lie below the folders. */
const staysBelow = (names: readonly string[], folders: readonly string[]): string =>
  [
    `(${names.map(named).join(' || ')})`,
    ...names.map((name) => `(!${named(name)} || ${lies(`args.${name}`, folders, false)})`),
  ].join(' && ')

/** A rule by its effect as it decides one capability. */
export type Part = {
  readonly capability: string
  /** Null where it always holds. */
  readonly condition: string | null
}

/**
 * Whether a rule that loosens may speak of the capability: of files and nothing besides, and of no effect that the
 * rule does not name. What lies where an agent may change things, it may read there.
 * @SECURITY A rule about writing must not let files out or have them deleted; file-effects.test.ts.
 */
const mayLoosen = (capability: string, effects: Effects, wanted: readonly FileEffect[]): boolean =>
  capability.startsWith('filesystem.') &&
  Object.values(effects)
    .flat()
    .every((effect) => effect === 'read' || wanted.includes(effect))

/**
 * The rules for single capabilities that a rule by its effect stands for. One that loosens holds only for calls
 * of which every place is below the folders; any other holds as soon as one place is.
 */
export function partsOf(match: FileMatch, tier: PolicyTier): readonly Part[] {
  const wanted = effectsIn(match)
  const folders = foldersIn(match)
  return Object.entries(fileEffects).flatMap(([capability, effects]): readonly Part[] => {
    const all = Object.keys(effects)
    const names = all.filter((name) => effects[name]?.some((effect) => wanted.includes(effect)))
    if (names.length === 0) return []
    if (tier === 'autonomous' && !mayLoosen(capability, effects, wanted)) return []
    if (folders.length === 0) return [{ capability, condition: null }]
    const condition = tier === 'autonomous' ? staysBelow(all, folders) : touches(names, folders)
    return [{ capability, condition }]
  })
}
