import { blocked, hook } from './commands/hook.ts'
import { dataPlaces } from './data-places.ts'
import { createProcessIo } from './process-io.ts'

const valued = ['--token-file', '--data-dir', '--url']

/** The line as connect writes it, read without the parser: that takes as long to load as the rest. */
function readPlainLine(argv: readonly string[]) {
  const [client = '-', ...all] = argv
  const words = all.filter((word) => word !== '--others')
  const pairs = words.flatMap((word, i) =>
    i % 2 === 0 ? [[word, words[i + 1] ?? '-'] as const] : [],
  )
  const isPlain = pairs.every(([name, value]) => valued.includes(name) && !value.startsWith('-'))
  if (client.startsWith('-') || !isPlain) return null
  const given = Object.fromEntries(pairs)
  const others = words.length < all.length
  const input = { client, 'token-file': given['--token-file'], url: given['--url'], others }
  return { input, dataDir: given['--data-dir'] }
}

async function readLine(argv: readonly string[]) {
  const plain = readPlainLine(argv)
  if (plain) return plain
  const { parseCommand } = await import('./parse.ts')
  const { input, global } = parseCommand(hook, argv)
  return { input, dataDir: global['data-dir'] }
}

/**
 * `gatehouse hook` as a process, without its help. A client waits for it before each of its tools, so nothing is loaded
 * here that the call does not need.
 */
export async function main(): Promise<void> {
  const argv = process.argv.slice(3)
  // Until there is an answer: whatever ends this process has blocked the call.
  process.exitCode = blocked
  using io = createProcessIo()
  process.once('uncaughtException', (error) => {
    process.exitCode = blocked
    process.stderr.write(`Gatehouse could not decide, so the call is blocked: ${error.message}\n`)
  })
  try {
    const { input, dataDir } = await readLine(argv)
    const places = dataPlaces(dataDir, io.env)
    const code = await hook.runAlone({ io, places, configFile: undefined }, input as never)
    // An answer that could not be written is none.
    if (!io.signal.aborted) process.exitCode = code
  } catch (error) {
    const { blockedReason } = await import('./hooks/blocked.ts')
    await io.stderr.write(`${blockedReason(error, io, dataPlaces(undefined, io.env))}\n`)
  }
}
