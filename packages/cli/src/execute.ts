import { createClient, UnexpectedAnswerError } from '@gatehouse/rest-client'
import { CliError } from './cli-error.ts'
import { isColoured } from './colour.ts'
import {
  type Connect,
  type Connection,
  connect as connectToData,
  findData,
  placeholderUrl,
  serverNeeded,
} from './connect.ts'
import { type DataPlaces, dataPlaces, usualDataDir } from './data-places.ts'
import type { Context, DataCommand, View } from './define.ts'
import { escapeText, jsonText } from './escape-text.ts'
import { exitCodes } from './exit-codes.ts'
import type { Io, Output } from './io.ts'
import { createNextStep } from './next-step.ts'
import type { Parsed } from './parse.ts'
import { suggestAgent } from './suggest-agent.ts'

type Opened = { readonly context: Context } & AsyncDisposable

function createContext(command: DataCommand, io: Io, { global }: Parsed, connect: Connect): Opened {
  const all = dataPlaces(global['data-dir'], io.env)
  const places: DataPlaces = command.oneDirectory ? { ...all, dirs: [all.dirs[0]] } : all
  const { withoutData } = command
  const { json, quiet, yes, config: configFile } = global
  let opened: Promise<Connection> | undefined
  // Text printed before the data was found is about the first place.
  let [dataDir]: readonly string[] = places.dirs
  const note = async (text: string) => {
    if (!quiet) await io.stderr.write(`${text}\n`)
  }
  const open = async (serverOnly: boolean) => {
    const connection = await connect({
      places,
      configFile,
      serverOnly,
      ...(withoutData === undefined ? {} : { withoutData }),
    })
    dataDir = connection.dataDir
    if (connection.isNew) await note(`A new Gatehouse is created in ${escapeText(dataDir)}.`)
    return connection
  }
  const connection = (serverOnly = false) => {
    opened ??= open(serverOnly)
    return opened
  }
  const api = createClient({
    baseUrl: placeholderUrl,
    fetch: async (url, init) => (await connection()).fetch(url, init),
  })
  const next = createNextStep(io.program, () => dataDir ?? places.dirs[0], usualDataDir(io.env))
  const viewOf = (output: Output): View => {
    const { isTTY, columns } = output
    const coloured = isColoured(output, io.env, global['no-color'])
    return { isTTY, columns, coloured, next }
  }
  const context: Context = {
    io,
    views: { stdout: viewOf(io.stdout), stderr: viewOf(io.stderr) },
    places,
    configFile,
    json,
    quiet,
    yes,
    api,
    next,
    async server() {
      const { run } = await connection(true)
      if (!run) throw serverNeeded()
      return run
    },
    note,
    isServed: async () => (await connection()).run !== null,
    async dataDir() {
      dataDir = opened ? (await opened).dataDir : (await findData(places)).dataDir
      return dataDir
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

/** Asks about what cannot be undone. Raises `NotConfirmed` for a no, and where nobody can be asked. */
async function confirm(
  { io, yes }: Context,
  { name, goesOnUnasked }: DataCommand,
  question: string | null,
): Promise<void> {
  if (question === null || yes) return
  if (io.stdin.isTTY && io.stderr.isTTY) {
    const answer = await io.stdin.ask(`${question} [y/N] `)
    if (/^y(es)?$/i.test(answer.trim())) return
    throw new CliError('NotConfirmed', exitCodes.failed, 'Nothing was changed.')
  }
  if (goesOnUnasked) return
  const message = `Nothing was changed: ${name} asks first, and there is no terminal to ask at.`
  const recovery = [{ action: '--yes', description: 'Do it without the question.' }]
  throw new CliError('NotConfirmed', exitCodes.wrongUsage, message, { recovery })
}

/** Runs a parsed command and prints what came of it. What it opened is closed again. */
export async function execute(
  command: DataCommand,
  parsed: Parsed,
  io: Io,
  connect: Connect = connectToData,
): Promise<number> {
  await using opened = createContext(command, io, parsed, connect)
  const { context } = opened
  let result: unknown
  try {
    const input = parsed.input as never
    const found = await command.look?.(context, input)
    await confirm(context, command, command.question?.(input, found) ?? null)
    result = await command.run(context, input, found)
  } catch (error) {
    throw await suggestAgent(context.api, error)
  }
  if (result === undefined || result === null) return exitCodes.done
  const asText = !context.json && command.text
  const [text, code] = readable(command.name, () => [
    asText ? asText(result, context.views.stdout) : jsonText(result),
    command.exitCode?.(result) ?? exitCodes.done,
  ])
  if (text !== '') await io.stdout.write(`${text}\n`)
  return code
}

/** A record whose inner parts are not as they should be trips up whatever shows it. */
function readable<T>(name: string, show: () => T): T {
  try {
    return show()
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    throw new UnexpectedAnswerError(name, 'a part of it is missing.', { cause })
  }
}
