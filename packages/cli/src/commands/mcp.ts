import { Bridge } from '../bridge/bridge.ts'
import { findToken, locateService, tokenVariable } from '../bridge/endpoint.ts'
import { Gateway } from '../bridge/gateway.ts'
import { readLines } from '../bridge/read-lines.ts'
import { usageError } from '../cli-error.ts'
import { defineLoneCommand } from '../define.ts'
import { endedBy } from '../ended.ts'
import { exitCodes } from '../exit-codes.ts'

/** Above what the service takes with any sensible setting. */
const lineBytesMax = 64 * 1024 * 1024

export const mcp = defineLoneCommand({
  name: 'mcp',
  summary: 'Connect an MCP client over standard input and output',
  options: {
    'token-file': { value: 'FILE', about: `the agent's token; without it ${tokenVariable}` },
    url: { value: 'URL', about: 'the gateway, where it is not the one of the data directory' },
    start: { about: 'start the server if none runs' },
  },
  examples: ['gatehouse mcp --token-file coder.token'],
  async runAlone({ io, places, configFile }, { 'token-file': file, url, start }) {
    if (start && url !== undefined)
      throw usageError('--start is for a server of this machine, and takes no --url.')
    const locate = locateService(url, places)
    const token = findToken(file, io.env[tokenVariable])
    // A token that cannot be used is said at once, not with the first message.
    await token.read()
    using gateway = new Gateway(locate, token)
    const [dataDir] = places.dirs
    const way = {
      gateway,
      ...(start
        ? {
            async start() {
              const { startService } = await import('../bridge/start-service.ts')
              await startService({ dataDir, configFile, locate, io })
            },
          }
        : {}),
    }
    using ended = endedBy(io.signal)
    const bridge = new Bridge({
      way,
      write: (text) => io.stdout.write(`${text}\n`),
      note: (text) => io.stderr.write(`${text}\n`),
    })
    await bridge.run(readLines(io.stdin.chunks(ended), lineBytesMax))
    return exitCodes.done
  },
})
