import { isDeepStrictEqual } from 'node:util'
import { CliError } from '../cli-error.ts'
import { exitCodes } from '../exit-codes.ts'

export type Members = Readonly<Record<string, unknown>>
/** A server in a configuration. */
export type Entry = Members
/** Names of the members that lead to a list of servers. */
export type List = readonly string[]

/** Reads and changes the text of a configuration, and leaves everything else in it as it is. */
export interface ConfigFormat {
  /** Raises `Malformed`. */
  read(text: string): Members
  set(text: string, list: List, name: string, entry: Entry): string
  remove(text: string, list: List, name: string): string
}

/** Why a text is no configuration, and where. */
export class Malformed extends Error {
  readonly line: number
  readonly column: number

  constructor(message: string, at: { readonly line: number; readonly column: number }) {
    super(message)
    this.line = at.line
    this.column = at.column
  }
}

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** `jsonc` has comments, and a comma behind the last member where somebody likes one. */
export type FormatName = 'json' | 'json with comments' | 'jsonc' | 'toml'

export const loadFormat = async (name: FormatName): Promise<ConfigFormat> =>
  name === 'toml'
    ? (await import('./toml-format.ts')).tomlFormat
    : (await import('./json-format.ts')).jsonFormat(name)

export const unusable = (file: string, message: string, cause?: unknown): CliError =>
  new CliError('ConfigUnusable', exitCodes.failed, `${file} was left as it is: ${message}`, {
    ...(cause === undefined ? {} : { cause }),
    recovery: [{ action: 'correct the file', description: 'Then try again.' }],
  })

/** Raises `ConfigMalformed`. */
export function readText(format: ConfigFormat, file: string, text: string): Members {
  try {
    return format.read(text)
  } catch (cause) {
    if (!(cause instanceof Malformed)) throw cause
    throw new CliError(
      'ConfigMalformed',
      exitCodes.failed,
      `${file}:${cause.line}:${cause.column}: ${cause.message}`,
      { cause, recovery: [{ action: 'correct the file', description: 'Then try again.' }] },
    )
  }
}

/** Servers of a configuration, by name. Raises `ConfigMalformed` and `ConfigUnusable`. */
export function readServers(format: ConfigFormat, file: string, text: string, list: List): Members {
  let at = readText(format, file, text)
  for (const name of list) {
    const inner = at[name] ?? {}
    if (!isMembers(inner)) throw unusable(file, `${list.join('.')} is no list of servers by name.`)
    at = inner
  }
  return at
}

/** The members with a change of the list, which may be there or not: an empty one says the same. */
function withList(
  members: Members,
  [name, ...rest]: List,
  change: (servers: Members) => Members,
): Members {
  if (name === undefined) return change(members)
  const inner = members[name]
  return { ...members, [name]: withList(isMembers(inner) ? inner : {}, rest, change) }
}

const without = (members: Members, name: string): Members => {
  const { [name]: _gone, ...others } = members
  return others
}

type Change = {
  readonly file: string
  readonly text: string
  readonly list: List
  readonly name: string
  /** Undefined to take it out. */
  readonly entry: Entry | undefined
}

/** The text with the entry in it or out of it. It is read again: what else would have changed is refused. */
export function changeEntry(
  format: ConfigFormat,
  { file, text, list, name, entry }: Change,
): string {
  const before = readText(format, file, text)
  const servers = readServers(format, file, text, list)
  if (entry === undefined && !(name in servers)) return text
  const after =
    entry === undefined ? format.remove(text, list, name) : format.set(text, list, name, entry)
  const wanted = withList(before, list, (present) => {
    const others = without(present, name)
    return entry === undefined ? others : { ...others, [name]: entry }
  })
  let found: Members
  try {
    found = format.read(after)
  } catch (cause) {
    throw unusable(file, `the entry ${name} cannot be changed without changing more.`, cause)
  }
  const same = isDeepStrictEqual(
    withList(found, list, (servers) => servers),
    wanted,
  )
  if (same) return after
  throw unusable(file, `the entry ${name} cannot be changed without changing more.`)
}
