import { createClient } from '@gatehouse/client'
import { didYouMean } from '@gatehouse/contract/nearest'
import { commands } from './commands/index.ts'
import {
  type Connect,
  type Connection,
  connect as connectToData,
  placeholderUrl,
  serverNeeded,
} from './connect.ts'
import type { Command, Context } from './define.ts'
import { jsonText } from './escape-text.ts'
import { exitCodes } from './exit-codes.ts'
import { CliError, failureJson, failureText, toFailure, usageError } from './failure.ts'
import { dataDirOf } from './global-options.ts'
import { commandHelp, listHelp } from './help.ts'
import type { Io } from './io.ts'
import { type Parsed, parseCommand, splitCommand } from './parse.ts'
import { suggestAgent } from './suggest-agent.ts'

const names: ReadonlySet<string> = new Set(commands.map(({ name }) => name))
const visible = commands.filter(({ name }) => !name.startsWith('__'))

type Opened = { readonly context: Context } & AsyncDisposable

function createContext(io: Io, { global }: Parsed, connect: Connect): Opened {
  const dataDir = dataDirOf(global['data-dir'], io.env)
  const { json, quiet, yes, config: configFile } = global
  let opened: Promise<Connection> | undefined
  const connection = (serverOnly = false) => {
    opened ??= connect({ dataDir, configFile, serverOnly })
    return opened
  }
  const api = createClient({
    baseUrl: placeholderUrl,
    fetch: async (url, init) => (await connection()).fetch(url, init),
  })
  const context: Context = {
    io,
    dataDir,
    configFile,
    json,
    quiet,
    yes,
    api,
    async server() {
      const { run } = await connection(true)
      if (!run) throw serverNeeded()
      return run
    },
    async note(text) {
      if (!quiet) await io.stderr.write(`${text}\n`)
    },
    async confirm(question) {
      if (yes || json || !io.stdin.isTTY || !io.stderr.isTTY) return
      const answer = await io.stdin.ask(`${question} [y/N] `)
      if (!/^y(es)?$/i.test(answer.trim()))
        throw new CliError('NotConfirmed', exitCodes.failed, 'Nothing was changed.')
    },
  }
  return {
    context,
    async [Symbol.asyncDispose]() {
      const connection = await opened?.catch(() => undefined)
      await connection?.[Symbol.asyncDispose]()
    },
  }
}

async function execute(
  command: Command,
  parsed: Parsed,
  io: Io,
  connect: Connect,
): Promise<number> {
  await using opened = createContext(io, parsed, connect)
  const { context } = opened
  let result: unknown
  try {
    result = await command.run(context, parsed.input as never)
  } catch (error) {
    throw await suggestAgent(context.api, error)
  }
  if (result === undefined || result === null) return exitCodes.done
  const asText = !context.json && command.text
  const text = asText ? asText(result, io.stdout) : jsonText(result)
  if (text !== '') await io.stdout.write(`${text}\n`)
  return command.exitCode?.(result) ?? exitCodes.done
}

function unknownCommand(words: readonly string[]): CliError {
  const word = words.slice(0, 2).join(' ')
  const known = visible.map(({ name }) => name)
  const guess = didYouMean(word, known) || didYouMean(words[0] ?? '', known)
  return usageError(`There is no command "${word}".${guess}`, [
    { action: 'gatehouse --help', description: 'See every command.' },
  ])
}

async function dispatch(argv: readonly string[], io: Io, connect: Connect): Promise<number> {
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
    if (!parsed.global.help) return execute(command, parsed, io, connect)
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
export async function run(
  argv: readonly string[],
  io: Io,
  connect: Connect = connectToData,
): Promise<number> {
  try {
    return await dispatch(argv, io, connect)
  } catch (error) {
    const failure = toFailure(error)
    const text = argv.includes('--json') ? jsonText(failureJson(failure)) : failureText(failure)
    await io.stderr.write(`${text}\n`)
    return failure.exitCode
  }
}
