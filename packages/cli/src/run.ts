import { didYouMean } from '@gatehouse/contract/nearest'
import { asNextStep } from './as-next-step.ts'
import { type CliError, usageError } from './cli-error.ts'
import { commands } from './commands/index.ts'
import type { Connect } from './connect.ts'
import { dataPlaces, usualDataDir } from './data-places.ts'
import { exitCodes } from './exit-codes.ts'
import { commandHelp, listHelp } from './help.ts'
import type { Io } from './io.ts'
import { createNextStep } from './next-step.ts'
import { parseCommand, splitCommand } from './parse.ts'

const names: ReadonlySet<string> = new Set(commands.map(({ name }) => name))
const visible = commands.filter(({ name }) => !name.startsWith('__'))

function unknownCommand(words: readonly string[]): CliError {
  const word = words.slice(0, 2).join(' ')
  const known = visible.map(({ name }) => name)
  const guess = didYouMean(word, known) || didYouMean(words[0] ?? '', known)
  return usageError(`There is no command "${word}".${guess}`, [
    { action: 'gatehouse --help', description: 'See every command.' },
  ])
}

/** Help in which the examples work as they stand. */
const asTyped = (text: string, { program }: Io): string =>
  asNextStep(text, (words) => `${program} ${words}`)

type Line = { readonly argv: readonly string[]; readonly io: Io; readonly connect?: Connect }

async function runNamed(name: string, rest: readonly string[], line: Line): Promise<number> {
  const { argv, io, connect } = line
  const entry = commands.find((candidate) => candidate.name === name)
  const command = await entry?.load()
  if (!command) throw unknownCommand([name])
  const parsed = argv[0] === 'help' ? null : parseCommand(command, rest)
  if (!parsed || parsed.global.help) {
    await io.stdout.write(`${asTyped(commandHelp(command), io)}\n`)
    return exitCodes.done
  }
  if ('runAlone' in command) {
    const { 'data-dir': dataDir, config: configFile } = parsed.global
    const places = dataPlaces(dataDir, io.env)
    return await command.runAlone({ io, places, configFile }, parsed.input as never)
  }
  // Modules that only a command needs are loaded only for one: help is to be there at once.
  const { execute } = await import('./execute.ts')
  return await execute(command, parsed, io, connect)
}

/** The list of commands: asked for it is data, otherwise it says what was missing. */
async function showList({ argv, io }: Line, noun?: string): Promise<number> {
  const asked = argv[0] === 'help' || argv.includes('--help') || argv.includes('-h')
  await (asked ? io.stdout : io.stderr).write(`${asTyped(listHelp(visible, noun), io)}\n`)
  return asked ? exitCodes.done : exitCodes.wrongUsage
}

async function dispatch(line: Line): Promise<number> {
  const { argv } = line
  const { words, name, rest } = splitCommand(argv[0] === 'help' ? argv.slice(1) : argv, names)
  if (name !== undefined) return runNamed(name, rest, line)
  if (argv.includes('--version')) return runNamed('version', [], line)
  const [noun] = words
  if (noun === undefined) return showList(line)
  const isNoun = visible.some((command) => command.name.startsWith(`${noun} `))
  if (isNoun && words.length === 1) return showList(line, noun)
  throw unknownCommand(words)
}

/** Read without the parser, which may be what failed. */
function dataDirGiven(argv: readonly string[], { env }: Io): string {
  const at = argv.findIndex((word) => word === '--data-dir' || word.startsWith('--data-dir='))
  const word = argv[at] ?? ''
  const flag = word.includes('=')
    ? word.slice(word.indexOf('=') + 1)
    : at < 0
      ? undefined
      : argv[at + 1]
  return dataPlaces(flag, env).dirs[0]
}

/** Runs one command line and returns its exit code. Nothing is thrown and nothing ends the process. */
export async function run(argv: readonly string[], io: Io, connect?: Connect): Promise<number> {
  try {
    return await dispatch({ argv, io, ...(connect ? { connect } : {}) })
  } catch (error) {
    const { failureOutput } = await import('./failure.ts')
    const next = createNextStep(io.program, () => dataDirGiven(argv, io), usualDataDir(io.env))
    const { isColoured } = await import('./colour.ts')
    const coloured = isColoured(io.stderr, io.env, argv.includes('--no-color'))
    const { exitCode, text } = failureOutput(error, argv.includes('--json'), next, coloured)
    await io.stderr.write(`${text}\n`)
    return exitCode
  }
}
