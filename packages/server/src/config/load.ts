import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { didYouMean, type SettingOrigin } from '@gatehouse/contract'
import { isMap, isScalar, LineCounter, type Node, parseDocument } from 'yaml'
import { explainSetting, type Written } from './explain.ts'
import { type Field, flagOf, variableOf } from './field.ts'
import { fields, type Key } from './fields.ts'
import { parseValue, type Value } from './parse.ts'
import { readings } from './readings.ts'
import { refuse } from './refuse.ts'
import type { Settings } from './settings.ts'
import type { Environment, Surroundings } from './surroundings.ts'

type Readings = Partial<Record<Key, (written: never, around: Surroundings) => unknown>>

export type Flags = Readonly<Record<string, string | boolean | undefined>>
type Found = Written & { readonly value: Value }
const table: readonly Field[] = fields
const byKey = new Map(table.map((field) => [field.key, field]))

const settingName = /^[a-z][a-z0-9_.]{0,63}$/

/** A value from somewhere, checked. To people a duration is what was written. */
const foundIn = (
  kind: SettingOrigin,
  origin: string,
  field: Field,
  raw: unknown,
  at: string = origin,
): Found => {
  const value = parseValue(field, raw, at)
  return { value, written: field.type === 'duration' ? raw : value, kind, origin }
}

/**
 * Reads `gatehouse.yaml`; null where there is none. An unknown key, a key set twice or a wrong value is refused at its
 * position.
 */
const readFile = (file: string, mustExist: boolean): Map<string, Found> | null => {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT' && !mustExist) return null
    return refuse(file, 'cannot be read')
  }
  const lineCounter = new LineCounter()
  const at = (node: Node | null | undefined) => {
    const { line, col } = lineCounter.linePos(node?.range?.[0] ?? 0)
    return `${file}:${line}:${col}`
  }
  const document = parseDocument(text, { lineCounter, uniqueKeys: true, maxAliasCount: 0 } as never)
  const [problem] = document.errors
  if (problem) {
    // The message of the parser quotes the line; a file that is not ours to show must not leak by it.
    const { line, col } = lineCounter.linePos(problem.pos[0])
    return refuse(`${file}:${line}:${col}`, `is not valid YAML (${problem.code})`)
  }
  const found = new Map<string, Found>()
  const visit = (node: unknown, prefix: string): void => {
    if (!isMap(node))
      return refuse(at(node as Node), `${prefix || 'the file'} must be a map of settings`)
    for (const { key, value } of node.items) {
      if (!isScalar(key) || typeof key.value !== 'string') return refuse(file, 'keys must be texts')
      const name = prefix === '' ? key.value : `${prefix}.${key.value}`
      const field = byKey.get(name)
      if (field) {
        const plain = (value as Node | null)?.toJS(document) as unknown
        found.set(name, foundIn('file', at(key), field, plain, at(value as Node)))
      } else if (table.some((other) => other.key.startsWith(`${name}.`))) visit(value, name)
      // A key that is no name of a setting may be a line of a file that is not ours to show.
      else if (!settingName.test(name)) refuse(at(key), 'this is no name of a setting')
      else refuse(at(key), `there is no setting ${name}.${didYouMean(name, [...byKey.keys()])}`)
    }
  }
  if (document.contents !== null) visit(document.contents, '')
  return found
}

const fromFlags = (flags: Flags): Map<string, Found> => {
  const found = new Map<string, Found>()
  for (const field of table) {
    const flag = flagOf(field)
    const given = flags[flag.slice(2)]
    if (given === undefined) continue
    const raw = field.negated ? given !== true : given
    found.set(field.key, foundIn('flag', flag, field, raw))
  }
  return found
}

const fromEnvironment = (environment: Environment): Map<string, Found> => {
  const found = new Map<string, Found>()
  for (const field of table) {
    const variable = variableOf(field)
    const given = environment[variable]
    if (given === undefined || given === '') continue
    found.set(field.key, foundIn('environment', variable, field, given))
  }
  return found
}

const defaultDataDir = (environment: Environment): string =>
  join(environment['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'gatehouse')

const inherited = (environment: Environment): Record<string, string> =>
  Object.fromEntries(
    ['PATH', 'HOME', 'USER', 'LANG', 'TZ', 'TMPDIR'].flatMap((name) => {
      const value = environment[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )

const defaultOf = (field: Field): Found => {
  const { type, default: value } = field
  return type === 'duration' && value !== null
    ? foundIn('default', 'default', field, value)
    : { value, written: value, kind: 'default', origin: 'default' }
}

/** The data directory where no flag names one. */
export const usualDataDir = (environment: Environment): string =>
  resolve(environment['GATEHOUSE_DATA_DIR'] || defaultDataDir(environment))

/** Flags before environment before file before defaults. The only place that reads the environment. */
export const loadSettings = (flags: Flags, environment: Environment = process.env): Settings => {
  const [given, ambient] = [fromFlags(flags), fromEnvironment(environment)]
  const early = (key: string) => given.get(key) ?? ambient.get(key)
  const named = given.get('data_dir')?.value as string | undefined
  const dataDir = named === undefined ? usualDataDir(environment) : resolve(named)
  const config = early('config')
  const file = resolve((config?.value as string | undefined) ?? join(dataDir, 'gatehouse.yaml'))
  const inFile = readFile(file, config !== undefined)
  for (const key of ['data_dir', 'config'] as const) {
    const found = inFile?.get(key)
    if (found) refuse(found.origin, `${key} decides where this file is, so it cannot stand in it`)
  }
  const all = table.map((field) => {
    const found = early(field.key) ?? inFile?.get(field.key) ?? defaultOf(field)
    return [field, found] as const
  })
  const written = new Map(all.map(([{ key }, { value }]) => [key, value]))
  const activeOf = (key: Key, { value, origin }: Found): unknown => {
    const given = (other: string) => written.get(other) ?? null
    const around = { origin, dataDir, file, environment, given }
    const reading = (readings as Readings)[key]
    return reading ? reading(value as never, around) : value
  }
  const active = all.map(([field, found]) => ({
    field,
    found,
    value: activeOf(field.key as Key, found),
  }))
  return {
    ...(Object.fromEntries(active.map(({ field, value }) => [field.key, value])) as Pick<
      Settings,
      Key
    >),
    commandEnvironment: inherited(environment),
    origins: Object.fromEntries(all.map(([{ key }, { origin }]) => [key, origin])),
    configuration: {
      settings: active.map(({ field, found, value }) => explainSetting(field, found, value)),
      file: inFile ? file : null,
    },
  }
}
