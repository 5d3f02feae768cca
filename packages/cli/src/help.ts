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

const width = 80

/** Words in lines that fit a terminal, each line after the first indented. */
function wrapped(words: readonly string[], indent: number): string {
  const lines = ['']
  for (const word of words) {
    const line = lines.at(-1) ?? ''
    if (line !== '' && indent + line.length + word.length + 2 > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.join(`\n${' '.repeat(indent)}`)
}

/** Commands of one word with their summaries; the others by their noun, which has a page of its own. */
function groupsText(commands: readonly Entry[]): string {
  const alone = commands.filter(({ name }) => !name.includes(' '))
  const verbs = new Map<string, string[]>()
  for (const { name } of commands) {
    const [noun = '', verb] = name.split(' ')
    if (verb !== undefined) verbs.set(noun, [...(verbs.get(noun) ?? []), verb])
  }
  const column = Math.max(...[...verbs.keys()].map((noun) => noun.length)) + 4
  const groups = [...verbs].map(([noun, names]) => {
    const words = names.map((name, i) => (i < names.length - 1 ? `${name},` : name))
    return `  ${noun.padEnd(column - 2)}${wrapped(words, column)}`
  })
  return [
    `Commands\n${aligned(alone.map(({ name, summary }) => [name, summary]))}`,
    `Commands by what they are about (gatehouse NOUN --help says more)\n${groups.join('\n')}`,
  ].join('\n\n')
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
    noun
      ? `Commands\n${aligned(shown.map(({ name, summary }) => [name, summary]))}`
      : groupsText(shown),
    noun ? '' : `Common options\n${aligned(optionPairs(globalOptions))}`,
    'Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not reachable, 4 not allowed, 5 not found.',
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}
