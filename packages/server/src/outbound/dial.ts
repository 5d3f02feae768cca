import { isIP, type Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import type { buildConnector } from 'undici'
import { unbracket } from '../domain/web-address.ts'
import { Blocked, type Guard } from './guard.ts'
import { allowedAddresses, guardedLookup, type Resolve } from './resolve.ts'
import { goesDirect, openTunnel, type Proxy } from './tunnel.ts'

export type Dialling = {
  readonly guard: Guard
  readonly resolve: Resolve
  readonly proxy: Proxy | null
  /** Trusts further authorities; undefined for those of Node alone. */
  readonly secureContext: SecureContext | undefined
  readonly connectTimeoutMs: number
  /** Whether a port is open on every place of the internet, or only where the operator listed it. */
  readonly isOpenPort: (port: number) => boolean
}

const throughProxy = async (
  proxy: Proxy,
  host: string,
  port: number,
  dialling: Dialling,
  allows: (address: string) => boolean,
): Promise<Socket> => {
  const [first] = await allowedAddresses(dialling.resolve, host, allows)
  const address = first?.address ?? ''
  return openTunnel(
    proxy,
    { address, port },
    { timeoutMs: dialling.connectTimeoutMs, secureContext: dialling.secureContext },
  )
}

/**
 * Makes every connection that leaves. Three looks, because each sees what another cannot: literals are never
 * looked up, names are checked as they are looked up, and what was reached is checked once it is.
 */
export const createDialler = async (dialling: Dialling): Promise<buildConnector.connector> => {
  const { buildConnector } = await import('undici')
  const { guard, resolve, proxy, secureContext, connectTimeoutMs } = dialling
  return (options, answer) => {
    const host = unbracket(options.hostname)
    const port = Number(options.port || (options.protocol === 'https:' ? 443 : 80))
    const listedOnly = !dialling.isOpenPort(port)
    const allows = (address: string) => guard.allows(address, port, { listedOnly })
    // @SECURITY `net.connect` asks no lookup for a literal (guard.test.ts).
    if (isIP(host) !== 0 && !allows(host)) return answer(new Blocked(), null)
    // Here and not in `options`, where undici would drop it without a word.
    const base = buildConnector({
      timeout: connectTimeoutMs,
      lookup: guardedLookup(resolve, allows),
      maxCachedSessions: 0,
      // Certificates are checked whatever NODE_TLS_REJECT_UNAUTHORIZED says.
      rejectUnauthorized: true,
      ...(secureContext ? { secureContext } : {}),
    })
    if (proxy !== null && !goesDirect(proxy, host)) {
      throughProxy(proxy, host, port, dialling, allows).then(
        (socket) => {
          if (options.protocol === 'https:') base({ ...options, httpSocket: socket }, answer)
          else answer(null, socket)
        },
        (cause: Error) => answer(cause, null),
      )
      return
    }
    base(options, (error, socket) => {
      if (error) return answer(error, null)
      // @SECURITY The address that was reached, whatever the looks before it said (guard.test.ts).
      if (allows(socket.remoteAddress ?? '')) return answer(null, socket)
      socket.destroy()
      answer(new Blocked(), null)
    })
  }
}

/** Whether a connection that was made could be made now. The address behind a proxy is looked at when it is dialled. */
export const isStillAllowed = (
  { guard, proxy, isOpenPort }: Dialling,
  { host, port }: { readonly host: string; readonly port: number },
  socket: Socket,
): boolean =>
  (proxy !== null && !goesDirect(proxy, host)) ||
  guard.allows(socket.remoteAddress ?? '', port, { listedOnly: !isOpenPort(port) })

/** A connection through the dialler; a caller that gave up gets none, however late it is made. */
export const dial = (
  connector: buildConnector.connector,
  target: { readonly host: string; readonly port: number; readonly protocol?: 'http:' | 'https:' },
  signal: AbortSignal,
): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { host: hostname, port, protocol = 'http:' } = target
    const aborted = () => reject(signal.reason as Error)
    if (signal.aborted) return aborted()
    signal.addEventListener('abort', aborted, { once: true })
    const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname
    connector({ hostname, host, protocol, port: String(port) }, (error, socket) => {
      signal.removeEventListener('abort', aborted)
      if (error) return reject(error)
      if (signal.aborted) socket.destroy()
      resolve(socket)
    })
  })
