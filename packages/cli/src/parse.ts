import { parseArgs } from 'node:util'
import { didYouMean } from '@gatehouse/contract/nearest'
import { usageError } from './cli-error.ts'
import { counted } from './counted.ts'
import type { Command, OptionSpec } from './define.ts'
import { globalOptions } from './global-options.ts'

type Values = Record<string, string | number | boolean | readonly string[] | undefined>

const tokensOf = (argv: readonly string[], options: Readonly<Record<string, OptionSpec>>) =>
  parseArgs({
    args: [...argv],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: Object.fromEntries(
      Object.entries(options).map(([name, { value }]) => [
        name,
        value === undefined ? { type: 'boolean' as const } : { type: 'string' as const },
      ]),
    ),
  }).tokens

/** Words that name the command, wherever common flags stand. `rest` is the line without them. */
export function splitCommand(
  argv: readonly string[],
  names: ReadonlySet<string>,
): { readonly words: readonly string[]; readonly name?: string; readonly rest: readonly string[] } {
  const positional = tokensOf(argv, globalOptions).filter((token) => token.kind === 'positional')
  const words = positional.map((token) => token.value)
  for (const count of [2, 1]) {
    const name = words.slice(0, count).join(' ')
    if (words.length < count || !names.has(name)) continue
    const used = new Set(positional.slice(0, count).map((token) => token.index))
    return { words, name, rest: argv.filter((_word, i) => !used.has(i)) }
  }
  return { words, rest: argv }
}

function valueOf(name: string, spec: OptionSpec, value: string | undefined): string | number {
  if (value === undefined) throw usageError(`--${name} needs a value: --${name} ${spec.value}.`)
  if (spec.choices && !spec.choices.includes(value))
    throw usageError(
      `--${name} is one of ${spec.choices.join(', ')}, not "${value}".${didYouMean(value, spec.choices)}`,
    )
  if (!spec.integer) return value
  if (!/^\d{1,12}$/.test(value)) throw usageError(`--${name} is a whole number, not "${value}".`)
  return Number(value)
}

export type Parsed = {
  readonly input: Values
  readonly global: {
    readonly [K in keyof typeof globalOptions]: (typeof globalOptions)[K] extends { value: string }
      ? string | undefined
      : boolean
  }
}

type Shape = Pick<Command, 'args' | 'options' | 'name'>
type Token = ReturnType<typeof tokensOf>[number]

const helpOf = ({ name }: Shape) => [
  { action: `gatehouse ${name} --help`, description: 'See what there is.' },
]

const listOf = (value: string): string[] =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

/** One option as it was written: its name and its value, checked. */
function readOption(
  token: Extract<Token, { kind: 'option' }>,
  options: Readonly<Record<string, OptionSpec>>,
  command: Shape,
): readonly [string, string | number | boolean] {
  const { rawName, value, inlineValue } = token
  const name = token.name === 'h' ? 'help' : token.name
  const spec = options[name]
  if (!spec || (rawName.length === 2 && name !== 'help')) {
    const known = Object.keys(options).map((option) => `--${option}`)
    const guess = didYouMean(`--${name}`, known)
    throw usageError(`There is no option ${rawName}.${guess}`, helpOf(command))
  }
  if (spec.value === undefined) {
    if (value !== undefined) throw usageError(`--${name} takes no value.`)
    return [name, true]
  }
  if (!inlineValue && /^-./.test(value ?? ''))
    throw usageError(`--${name} needs a value; if "${value}" is meant, write --${name}=${value}.`)
  return [name, valueOf(name, spec, value)]
}

/** The words beside the options, each under its name. */
function readArguments(command: Shape, words: readonly string[]): Values {
  const specs = Object.entries(command.args ?? {})
  const last = specs.at(-1)?.[1]
  const many = typeof last === 'object' && 'many' in last
  // The words themselves are not repeated: the one too many may be a secret that belongs elsewhere.
  if (!many && words.length > specs.length) {
    const takes = specs.length === 0 ? 'no arguments' : counted(specs.length, 'argument')
    throw usageError(`${command.name} takes ${takes} (got ${words.length}).`)
  }
  const read: Values = {}
  for (const [i, [name, spec]] of specs.entries()) {
    const optional = typeof spec === 'object' && 'optional' in spec
    if (!words[i] && !optional) {
      const about = typeof spec === 'string' ? spec : spec.about
      throw usageError(`${name.toUpperCase()} is missing: ${about}.`, helpOf(command))
    }
    read[name] = typeof spec === 'object' && 'many' in spec ? words.slice(i) : words[i]
  }
  return read
}

/** Arguments and options of one command, or a sentence on what does not fit. */
export function parseCommand(command: Shape, argv: readonly string[]): Parsed {
  const own = command.options ?? {}
  const options: Readonly<Record<string, OptionSpec>> = { ...globalOptions, ...own }
  const values: Values = {}
  for (const [name, { value }] of Object.entries(options))
    if (value === undefined) values[name] = false
  const words: string[] = []
  for (const token of tokensOf(argv, options)) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const [name, value] = readOption(token, options, command)
    const before = values[name]
    values[name] =
      options[name]?.many && typeof value === 'string'
        ? [...(Array.isArray(before) ? (before as string[]) : []), ...listOf(value)]
        : value
  }
  const mine = Object.fromEntries(Object.keys(own).map((name) => [name, values[name]]))
  const args = values.help === true ? {} : readArguments(command, words)
  return { input: { ...mine, ...args }, global: values as Parsed['global'] }
}
