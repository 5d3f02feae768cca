import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'

const path = '/callback'

const page = (text: string): string =>
  `<!doctype html><meta charset="utf-8"><title>Gatehouse</title><p>${text}</p>\n`

/** Where a browser on this machine brings the answer of a login. */
export type Loopback = AsyncDisposable & {
  readonly url: string
  /** Resolves with the address that a browser came with, if it has this state; others are sent away. */
  redirected(state: string): Promise<string>
}

export const stateIn = (address: string): string | null =>
  URL.canParse(address) ? new URL(address).searchParams.get('state') : null

/** Listens on this machine alone; 0 is any port that is free. */
export async function openLoopback(port: number): Promise<Loopback> {
  let wanted: string | null = null
  let arrived: (address: string) => void = () => {}
  const answer = new Promise<string>((resolve) => {
    arrived = resolve
  })
  const server = createServer((request, response) => {
    const address = new URL(request.url ?? '/', origin)
    const fits = request.method === 'GET' && address.pathname === path
    // Any page in the browser can send a request here; only the login knows the state.
    const isAnswer = fits && wanted !== null && stateIn(address.href) === wanted
    response.writeHead(isAnswer ? 200 : 404, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      connection: 'close',
    })
    response.end(
      page(isAnswer ? 'You can close this page: the terminal says how it went.' : 'Nothing here.'),
    )
    if (isAnswer) arrived(address.href)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  }).catch((cause: NodeJS.ErrnoException) => {
    const why = cause.code === 'EADDRINUSE' ? 'something listens there already' : 'it is not free'
    throw new CliError('PortTaken', exitCodes.failed, `Port ${port} can't be used: ${why}.`)
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `${origin}${path}`,
    redirected(state) {
      wanted = state
      return answer
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
