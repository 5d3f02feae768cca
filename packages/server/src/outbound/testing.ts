import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import type { Outbound } from '../ports/outbound.ts'
import { createOutbound, type OutboundDeps } from './create-outbound.ts'
import type { Address, Resolve } from './resolve.ts'

/** A server that counts who comes: for an attack it must stay at 0. */
export type Canary = AsyncDisposable & {
  readonly host: string
  readonly port: number
  readonly url: string
  readonly hits: IncomingMessage[]
  /** Connections, also those that asked for nothing. */
  readonly connections: () => number
}

export const openCanary = async (
  host: '127.0.0.1' | '::1',
  listener: RequestListener = (_request, response) => response.end('canary'),
  wanted = 0,
): Promise<Canary> => {
  const hits: IncomingMessage[] = []
  let connections = 0
  const server = createServer((request, response) => {
    hits.push(request)
    listener(request, response)
  })
  // A client keeps connections as long as it is told: longer than any test stands still.
  server.keepAliveTimeout = 60_000
  server.on('connection', () => {
    connections += 1
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(wanted, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    host,
    port,
    url: `http://${host === '::1' ? '[::1]' : host}:${port}`,
    hits,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Names as a test says they are. A list of lists is one answer after the other, as rebinding gives them. */
export const namesFrom = (
  names: Readonly<Record<string, readonly string[] | readonly (readonly string[])[]>>,
): Resolve & { readonly asked: string[] } => {
  const asked: string[] = []
  const turns = new Map<string, number>()
  const resolve: Resolve = async (hostname) => {
    asked.push(hostname)
    if (isIP(hostname) !== 0) return [{ address: hostname, family: isIP(hostname) }]
    const answers = names[hostname.toLowerCase()]
    if (!answers) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
    const turn = turns.get(hostname) ?? 0
    turns.set(hostname, turn + 1)
    const given = answers.some(Array.isArray)
      ? (answers as readonly (readonly string[])[])[Math.min(turn, answers.length - 1)]
      : (answers as readonly string[])
    return (given ?? []).map((address): Address => ({ address, family: isIP(address) }))
  }
  return Object.assign(resolve, { asked })
}

/** Settings of `outbound.`, of which a test names those that it is about. */
export type WayOut = {
  readonly privateTargets?: readonly string[]
  readonly ports?: readonly number[]
  readonly caFile?: string
  readonly proxy?: string
  readonly proxyAuthFile?: string
  readonly noProxy?: readonly string[]
  readonly origins?: Readonly<Record<string, string>>
}

export const outboundWith = (settings: WayOut = {}, deps: Partial<OutboundDeps> = {}): Outbound =>
  createOutbound(
    {
      'outbound.private_targets': settings.privateTargets ?? [],
      'outbound.ports': settings.ports ?? [],
      'outbound.ca_file': settings.caFile ?? null,
      'outbound.proxy': settings.proxy ?? null,
      'outbound.proxy_auth_file': settings.proxyAuthFile ?? null,
      'outbound.no_proxy': settings.noProxy ?? [],
      origins: settings.origins ?? {},
    },
    { ownPorts: () => new Set(), resolve: namesFrom({}), ...deps },
  )

export const get = (url: string, change: object = {}) => ({
  url,
  method: 'GET',
  headers: {},
  body: null,
  timeout_ms: 60_000,
  redirects_max: 5,
  https_only: false,
  ...change,
})

export const textOf = async (body: AsyncIterable<Uint8Array>): Promise<string> => {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export const never: AbortSignal = new AbortController().signal
