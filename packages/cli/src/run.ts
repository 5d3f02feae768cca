import { didYouMean } from '@gatehouse/contract/nearest'
import { type CliError, usageError } from './cli-error.ts'
import { commands } from './commands/index.ts'
import type { Connect } from './connect.ts'
import { exitCodes } from './exit-codes.ts'
import { commandHelp, listHelp } from './help.ts'
import type { Io } from './io.ts'
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

async function dispatch(argv: readonly string[], io: Io, connect?: Connect): Promise<number> {
  const wantsHelp = argv.some((word) => word === '--help' || word === '-h')
  const asked = argv[0] === 'help' ? argv.slice(1) : argv
  const { words, name, rest } = splitCommand(asked, names)
  if (name !== undefined) {
    const entry = commands.find((candidate) => candidate.name === name)
    const command = await entry?.load()
    if (!command) throw unknownCommand(words)
    if (argv[0] === 'help') {
      await io.stdout.write(`${commandHelp(command)}\n`)
      return exitCodes.done
    }
    const parsed = parseCommand(command, rest)
    if (!parsed.global.help) {
      // What only a command needs is loaded only for one: help is to be there at once.
      const { execute } = await import('./execute.ts')
      return await execute(command, parsed, io, connect)
    }
    await io.stdout.write(`${commandHelp(command)}\n`)
    return exitCodes.done
  }
  if (asked.includes('--version')) return dispatch(['version'], io, connect)
  const [noun] = words
  if (noun === undefined) {
    const output = wantsHelp || argv[0] === 'help' ? io.stdout : io.stderr
    await output.write(`${listHelp(visible)}\n`)
    return output === io.stdout ? exitCodes.done : exitCodes.wrongUsage
  }
  const isNoun = visible.some((command) => command.name.startsWith(`${noun} `))
  if (isNoun && (words.length === 1 || wantsHelp)) {
    const output = wantsHelp || argv[0] === 'help' ? io.stdout : io.stderr
    await output.write(`${listHelp(visible, noun)}\n`)
    return output === io.stdout ? exitCodes.done : exitCodes.wrongUsage
  }
  throw unknownCommand(words)
}

/** Runs one command line and returns its exit code. Nothing is thrown and nothing ends the process. */
export async function run(argv: readonly string[], io: Io, connect?: Connect): Promise<number> {
  try {
    return await dispatch(argv, io, connect)
  } catch (error) {
    const { failureOutput } = await import('./failure.ts')
    const { exitCode, text } = failureOutput(error, argv.includes('--json'))
    await io.stderr.write(`${text}\n`)
    return exitCode
  }
}
