import { code, generatedNote, table } from './markdown.mjs'

const argRow = ([name, spec]) => [
  code(name.toUpperCase()),
  typeof spec === 'string' ? 'yes' : 'no',
  typeof spec === 'string' ? spec : spec.about,
]

const optionRow = ([name, { value, about, choices }]) => [
  code(`--${name}${value ? ` ${value}` : ''}`),
  choices ? `${about} (${choices.map(code).join(', ')})` : about,
]

const section = ({ name, summary, args = {}, options = {}, examples }) => {
  const [argRows, optionRows] = [Object.entries(args), Object.entries(options)]
  return [
    `## gatehouse ${name}\n\n${summary}.`,
    argRows.length > 0 ? table(['Argument', 'Required', 'Meaning'], argRows.map(argRow)) : '',
    optionRows.length > 0 ? table(['Option', 'Meaning'], optionRows.map(optionRow)) : '',
    `\`\`\`sh\n${examples.join('\n')}\n\`\`\``,
  ]
    .filter(Boolean)
    .join('\n\n')
}

const exitCode = ([name, number]) =>
  `${number} ${name.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`)}`

export const cli = {
  file: 'docs/reference/cli.md',
  async render() {
    const dist = '../../packages/cli/dist'
    const { commands } = await import(`${dist}/commands/index.js`)
    const { exitCodes } = await import(`${dist}/exit-codes.js`)
    const { globalOptions } = await import(`${dist}/global-options.js`)
    // Names that begin so are for the shell's completion, not for people.
    const shown = commands.filter(({ name }) => !name.startsWith('__'))
    const loaded = await Promise.all(shown.map((entry) => entry.load()))
    return `${generatedNote('packages/cli/src/commands')}
# Command line

\`gatehouse <noun> <verb>\`. With \`--json\` a command prints one JSON value, a stream one a line; what is for
people goes to standard error. Exit codes: ${Object.entries(exitCodes).map(exitCode).join(', ')}.

Options that every command takes:

${table(['Option', 'Meaning'], Object.entries(globalOptions).map(optionRow))}

${loaded.map(section).join('\n\n')}
`
  },
}
