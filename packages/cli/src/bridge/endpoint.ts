import { CliError, usageError } from '../cli-error.ts'
import type { DataPlaces } from '../data-places.ts'
import { exitCodes } from '../exit-codes.ts'
import { isAlive, readAgentToken, readRunFile } from '../run-file.ts'
import type { Locate, Token } from './gateway.ts'

const endpointUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol))
    throw usageError('--url is the http or https address of the gateway: --url http://HOST:7700.')
  // As the address of the gateway or of its endpoint.
  if (url.pathname === '/') url.pathname = '/mcp'
  return url
}

/** The address that was named, or that of the first service that runs on one of the places. */
export function locateService(named: string | undefined, places: DataPlaces): Locate {
  if (named !== undefined) {
    const url = endpointUrl(named)
    return () => Promise.resolve(url)
  }
  return async () => {
    for (const dir of places.dirs) {
      const run = await readRunFile(dir)
      if (run && isAlive(run.pid)) return new URL('/mcp', run.gateway_url)
    }
    return null
  }
}

export const tokenVariable = 'GATEHOUSE_AGENT_TOKEN'

const noToken = (message: string): CliError =>
  new CliError('NoToken', exitCodes.notAllowed, message, {
    recovery: [
      {
        action: '--token-file FILE',
        description: 'Name the file that gatehouse agent create --token-file wrote.',
      },
      { action: tokenVariable, description: 'Or give the token in this variable.' },
    ],
  })

/** The agent's token: from the file, read anew each time it is asked for, or from the environment. */
export function findToken(file: string | undefined, env: string | undefined): Token {
  if (file !== undefined) return { read: () => readAgentToken(file) }
  if (!env) throw noToken('There is no token: it comes from a file or the environment.')
  const token = env.trim()
  if (!/^[0-9a-f]{64}$/.test(token)) throw noToken(`${tokenVariable} holds no agent token.`)
  return { read: () => Promise.resolve(token) }
}
