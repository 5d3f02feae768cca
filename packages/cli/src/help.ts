import type { ArgSpec, Command, OptionSpec } from './define.ts'
import { globalOptions } from './global-options.ts'

type Entry = { readonly name: string; readonly summary: string }

const aligned = (pairs: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...pairs.map(([left]) => left.length))
  return pairs.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd()).join('\n')
}

const optionPairs = (options: Readonly<Record<string, OptionSpec>>) =>
  Object.entries(options).map(([name, { value, about, choices }]): [string, string] => [
    `--${name}${value === undefined ? '' : ` ${value}`}`,
    choices ? `${about} (${choices.join(', ')})` : about,
  ])

const argText = ([name, spec]: readonly [string, ArgSpec]): string =>
  typeof spec === 'string'
    ? name.toUpperCase()
    : 'many' in spec
      ? `${name.toUpperCase()}...`
      : `[${name.toUpperCase()}]`

const examplesText = (examples: readonly string[]): string =>
  `Examples\n${examples.map((example) => `  ${example}`).join('\n')}`

/** The page of one command, its examples first. */
export function commandHelp(command: Command): string {
  const args = Object.entries(command.args ?? {})
  const usage = ['gatehouse', command.name, ...args.map(argText), '[options]'].join(' ')
  const parts = [`${command.summary}.`, examplesText(command.examples), `Usage\n  ${usage}`]
  if (args.length > 0) {
    const pairs = args.map(([name, spec]): [string, string] => [
      name.toUpperCase(),
      typeof spec === 'string' ? spec : spec.about,
    ])
    parts.push(`Arguments\n${aligned(pairs)}`)
  }
  const own = optionPairs(command.options ?? {})
  if (own.length > 0) parts.push(`Options\n${aligned(own)}`)
  const common = Object.entries(globalOptions).filter(
    ([name]) => !(name in (command.options ?? {})),
  )
  parts.push(`Common options\n${aligned(optionPairs(Object.fromEntries(common)))}`)
  return parts.join('\n\n')
}

/** The first page, or that of one noun such as `agent`. */
export function listHelp(commands: readonly Entry[], noun?: string): string {
  const shown = noun ? commands.filter(({ name }) => name.startsWith(`${noun} `)) : commands
  const examples = noun
    ? shown.slice(0, 3).map(({ name }) => `gatehouse ${name} --help`)
    : [
        'gatehouse serve',
        'gatehouse agent create mailbot --purpose "Answers my mail"',
        'gatehouse approvals watch',
      ]
  return [
    noun
      ? `gatehouse ${noun}`
      : 'gatehouse: a gate between AI agents and everything they can touch.',
    examplesText(examples),
    `Commands\n${aligned(shown.map(({ name, summary }) => [name, summary]))}`,
    noun ? '' : `Common options\n${aligned(optionPairs(globalOptions))}`,
    'Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not reachable, 4 not allowed, 5 not found.',
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}
