import { bold, example, italic, page, roffText, section, terms } from './roff.mjs'

const dist = '../../../packages'
const lowerFirst = (text) => text.charAt(0).toLowerCase() + text.slice(1)

const optionTerms = (options) =>
  terms(
    Object.entries(options).map(([name, { value, about, choices }]) => [
      `${bold(`--${name}`)}${value === undefined ? '' : ` ${italic(value)}`}`,
      choices ? `${about} (${choices.join(', ')})` : about,
    ]),
  )

const argumentText = ([name, spec]) => {
  const word = italic(name.toUpperCase())
  if (typeof spec === 'string') return word
  const shown = 'many' in spec ? `${word} ...` : word
  return spec.optional ? `[${shown}]` : shown
}

const commandBody = ({ name, args = {}, options = {}, examples }) => {
  const given = Object.entries(args)
  return [
    ...[
      '.PP',
      `${bold(`gatehouse ${name}`)} ${[...given.map(argumentText), '[options]'].join(' ')}`,
    ],
    ...terms(
      given.map(([word, spec]) => [
        italic(word.toUpperCase()),
        typeof spec === 'string' ? spec : spec.about,
      ]),
    ),
    ...optionTerms(options),
    ...['.PP', 'Examples:', '.PP', ...example(examples)],
  ]
}

/** Commands by the word that their page is named after. */
const byNoun = (commands) => {
  const groups = new Map()
  for (const command of commands) {
    const [noun] = command.name.split(' ')
    groups.set(noun, [...(groups.get(noun) ?? []), command])
  }
  return groups
}

const seeAlso = (...names) =>
  section('SEE ALSO', names.map(([name, volume]) => `${bold(name)}(${volume})`).join(', '))

const nounPage = (release, noun, commands) => {
  const [only] = commands
  const verbs = commands.map(({ name }) => name.split(' ')[1] ?? noun)
  const summary =
    commands.length === 1 ? lowerFirst(only.summary) : `${noun} commands: ${verbs.join(', ')}`
  const body = commands.flatMap((command) => [
    ...(commands.length === 1 ? [] : [`.SS ${roffText(command.name)}`]),
    `${roffText(command.summary)}.`,
    ...commandBody(command),
  ])
  const sections = [
    section('DESCRIPTION', ...body),
    seeAlso(['gatehouse', 1], ['gatehouse.yaml', 5]),
  ]
  return page({ name: `gatehouse-${noun}`, volume: 1, ...release, summary, sections })
}

const exitMeaning = (name) => name.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`)

const overview = (release, commands, { exitCodes, globalOptions }) =>
  page({
    ...{ name: 'gatehouse', volume: 1, ...release },
    summary: 'a gate between AI agents and everything they can touch',
    sections: [
      section('SYNOPSIS', `${bold('gatehouse')} ${italic('COMMAND')} [options]`),
      section(
        'DESCRIPTION',
        'Agents call named capabilities. Gatehouse checks who calls, what policy says and how often it',
        'was called, waits for a person where policy asks for one, and records each call before it answers.',
      ),
      section('COMMANDS', ...terms(commands.map(({ name, summary }) => [bold(name), summary]))),
      section('OPTIONS', 'Every command takes:', ...optionTerms(globalOptions)),
      section(
        'EXIT STATUS',
        ...terms(
          Object.entries(exitCodes).map(([name, code]) => [bold(`${code}`), exitMeaning(name)]),
        ),
      ),
      section(
        'FILES',
        ...terms([
          [italic('~/.local/share/gatehouse'), 'the data directory, unless another one is named'],
          [italic('gatehouse.yaml'), 'the settings, in the data directory'],
          [italic('run.json'), 'the addresses of the running server, in the data directory'],
        ]),
      ),
      seeAlso(['gatehouse.yaml', 5], ['gatehoused', 8]),
    ],
  })

const formOf = ({ type, choices }) => (choices ? choices.join(', ') : type)

const settingsPage = (release, fields, { flagOf, variableOf }) =>
  page({
    ...{ name: 'gatehouse.yaml', volume: 5, ...release },
    summary: 'settings of Gatehouse',
    sections: [
      section(
        'DESCRIPTION',
        'A YAML file in the data directory. A dot in a key is one level. Flags of',
        `${bold('gatehouse serve')} win over environment variables, variables over the file, the file over the default.`,
        roffText('A duration is a number with s, m, h or d.'),
      ),
      section(
        'SETTINGS',
        ...fields.flatMap((field) => [
          ...['.TP', `${bold(field.key)} (${roffText(formOf(field))})`],
          roffText(field.description),
          '.br',
          `Flag ${bold(flagOf(field))}, variable ${bold(variableOf(field))}.`,
        ]),
      ),
      seeAlso(['gatehouse', 1], ['gatehouse-config', 1]),
    ],
  })

const daemonPage = (release) =>
  page({
    ...{ name: 'gatehoused', volume: 8, ...release },
    summary: 'start the Gatehouse service',
    sections: [
      section('SYNOPSIS', `${bold('gatehoused')} [options of gatehouse serve]`),
      section(
        'DESCRIPTION',
        `Without a command it is ${bold('gatehouse serve')}; with one it is ${bold('gatehouse')}.`,
      ),
      seeAlso(['gatehouse-serve', 1], ['gatehouse-setup', 1]),
    ],
  })

/** The manual pages, from the table of commands and that of settings. `date` is that of the release. */
export const manPages = async (date) => {
  const { commands } = await import(`${dist}/cli/dist/commands/index.js`)
  const { exitCodes } = await import(`${dist}/cli/dist/exit-codes.js`)
  const { globalOptions } = await import(`${dist}/cli/dist/global-options.js`)
  const { fields } = await import(`${dist}/server/dist/config/fields.js`)
  const field = await import(`${dist}/server/dist/config/field.js`)
  const { version } = await import(`${dist}/server/dist/version.js`)
  const release = { version, date }
  const visible = commands.filter(({ name }) => !name.startsWith('__'))
  const loaded = await Promise.all(visible.map((entry) => entry.load()))
  const nouns = [...byNoun(loaded)].map(([noun, group]) => ({
    file: `gatehouse-${noun}.1`,
    lines: nounPage(release, noun, group),
  }))
  return [
    { file: 'gatehouse.1', lines: overview(release, visible, { exitCodes, globalOptions }) },
    ...nouns,
    { file: 'gatehouse.yaml.5', lines: settingsPage(release, fields, field) },
    { file: 'gatehoused.8', lines: daemonPage(release) },
  ].map(({ file, lines }) => ({ file, text: `${lines.join('\n')}\n` }))
}
