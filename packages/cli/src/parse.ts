import { parseArgs } from 'node:util'
import { didYouMean } from '@gatehouse/contract/nearest'
import { usageError } from './cli-error.ts'
import type { Command, OptionSpec } from './define.ts'
import { globalOptions } from './global-options.ts'

type Values = Record<string, string | number | boolean | undefined>

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

/** Which words name the command, wherever common flags stand. `rest` is the line without them. */
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

/** Arguments and options of one command, or a sentence on what does not fit. */
export function parseCommand(
  command: Pick<Command, 'args' | 'options' | 'name'>,
  argv: readonly string[],
): Parsed {
  const own = command.options ?? {}
  const options: Readonly<Record<string, OptionSpec>> = { ...globalOptions, ...own }
  const values: Values = {}
  const positional: string[] = []
  for (const token of tokensOf(argv, options)) {
    if (token.kind === 'positional') positional.push(token.value)
    if (token.kind !== 'option') continue
    const name = token.name === 'h' ? 'help' : token.name
    const spec = options[name]
    if (!spec || (token.rawName.length === 2 && name !== 'help'))
      throw usageError(
        `There is no option ${token.rawName}.${didYouMean(name, Object.keys(options))}`,
        [{ action: `gatehouse ${command.name} --help`, description: 'See what there is.' }],
      )
    if (spec.value === undefined) {
      if (token.value !== undefined) throw usageError(`--${name} takes no value.`)
      values[name] = true
      continue
    }
    if (!token.inlineValue && /^-./.test(token.value ?? ''))
      throw usageError(
        `--${name} needs a value; if "${token.value}" is meant, write --${name}=${token.value}.`,
      )
    values[name] = valueOf(name, spec, token.value)
  }
  for (const [name, spec] of Object.entries(options))
    if (spec.value === undefined) values[name] ??= false
  const help = values.help === true
  const names = Object.entries(command.args ?? {})
  for (const [i, [name, spec]] of names.entries()) {
    const given = positional[i]
    if ((given === undefined || given === '') && typeof spec === 'string' && !help)
      throw usageError(`${name.toUpperCase()} is missing: ${spec}.`, [
        { action: `gatehouse ${command.name} --help`, description: 'See how it is used.' },
      ])
    values[name] = given
  }
  const extra = positional[names.length]
  if (extra !== undefined && !help)
    throw usageError(`"${extra}" is one word too many for gatehouse ${command.name}.`)
  const mine = [...Object.keys(own), ...names.map(([name]) => name)]
  const input = Object.fromEntries(mine.map((name) => [name, values[name]]))
  return { input, global: values as Parsed['global'] }
}
