import { X509Certificate } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createSecureContext, rootCertificates, type SecureContext, TLSSocket } from 'node:tls'
import { GatehouseError } from '@gatehouse/contract'
import { parseHost, parseUrl } from '../domain/web-address.ts'
import type { Outbound } from '../ports/outbound.ts'
import { certificateOf } from './certificate.ts'
import { Deadline } from './deadline.ts'
import { createDialler, type Dialling, dial, isStillAllowed } from './dial.ts'
import { Guard } from './guard.ts'
import { KeptConnections } from './kept-connections.ts'
import { openEgress } from './open-egress.ts'
import { sendRequest, targetOf } from './request.ts'
import { type Resolve, resolveBySystem } from './resolve.ts'
import type { Proxy } from './tunnel.ts'

export type OutboundSettings = {
  readonly 'outbound.private_targets': readonly string[]
  /** Beside 80 and 443. */
  readonly 'outbound.ports': readonly number[]
  /** PEM of authorities that are trusted beside the usual ones; null for none. */
  readonly 'outbound.ca_file': string | null
  readonly 'outbound.proxy': string | null
  /** A file with `name:password`; null for a proxy that asks for none. */
  readonly 'outbound.proxy_auth_file': string | null
  readonly 'outbound.no_proxy': readonly string[]
  /** Origins of the values, by key, for errors. */
  readonly origins: Readonly<Record<string, string>>
}

export type OutboundDeps = {
  readonly ownPorts: () => ReadonlySet<number>
  /** For tests: the names that the system knows are not theirs. */
  readonly resolve?: Resolve
  readonly connectTimeoutMs?: number
}

const lookupMs = 10_000

const refuse = (origin: string, detail: string): never => {
  throw new GatehouseError('InvalidConfiguration', { origin, detail })
}

const readAt = (file: string, origin: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    return refuse(origin, `${file} cannot be read (${code ?? 'unknown'})`)
  }
}

const secureContextOf = (settings: OutboundSettings): SecureContext | undefined => {
  const { 'outbound.ca_file': caFile, origins } = settings
  if (caFile === null) return undefined
  const origin = origins['outbound.ca_file'] ?? 'outbound.ca_file'
  const pem = readAt(caFile, origin)
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) refuse(origin, `${caFile} holds no certificate`)
  for (const [index, block] of blocks.entries()) assertCertificate(block, index, caFile, origin)
  return createSecureContext({ ca: [...rootCertificates, ...blocks] })
}

/** TLS would leave one that it cannot read out, without a word. */
const assertCertificate = (pem: string, index: number, file: string, origin: string): void => {
  try {
    new X509Certificate(pem)
  } catch {
    refuse(origin, `certificate ${index + 1} in ${file} cannot be read`)
  }
}

const proxyOf = (settings: OutboundSettings): Proxy | null => {
  const { 'outbound.proxy': proxy, 'outbound.proxy_auth_file': authFile, origins } = settings
  if (proxy === null) return null
  const origin = origins['outbound.proxy'] ?? 'outbound.proxy'
  let url: URL
  try {
    url = new URL(proxy)
  } catch {
    return refuse(origin, 'outbound.proxy must be a URL such as http://proxy.example:3128')
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    refuse(origin, 'outbound.proxy must begin with http:// or https://')
  if (url.username !== '' || url.password !== '')
    refuse(origin, 'outbound.proxy must hold no password; name a file in outbound.proxy_auth_file')
  return {
    url,
    auth: authFile === null ? null : authOf(authFile, origins),
    except: settings['outbound.no_proxy'],
  }
}

const authOf = (file: string, origins: OutboundSettings['origins']): string => {
  const origin = origins['outbound.proxy_auth_file'] ?? 'outbound.proxy_auth_file'
  const auth = readAt(file, origin).trim()
  if ((statSync(file).mode & 0o077) !== 0)
    refuse(origin, `others can read ${file}; run chmod 400 on it`)
  return auth.includes(':') ? auth : refuse(origin, `${file} must hold name:password`)
}

/** Connections to one server that are used again, and that the guard looks at again each time. */
const keepConnections = (
  dialling: Dialling,
  ...[url, check]: Parameters<Outbound['keepConnections']>
): ReturnType<Outbound['keepConnections']> => {
  const target = targetOf(parseUrl(url))
  const kept = new KeptConnections({
    target,
    async dial(to, signal) {
      const socket = await dial(await createDialler(dialling), to, signal)
      try {
        // @SECURITY Before a secret is shown to whoever is at the other end; upstream/certificates.test.ts.
        if (check && socket instanceof TLSSocket) check(certificateOf(socket))
        return socket
      } catch (cause) {
        socket.destroy()
        throw cause
      }
    },
    isAllowed: (socket) => isStillAllowed(dialling, target, socket),
  })
  return {
    request: (request, signal) => sendRequest(request, dialling, signal, kept),
    [Symbol.dispose]: () => kept.end(),
  }
}

/** The one way out, under one guard. */
export const createOutbound = (settings: OutboundSettings, deps: OutboundDeps): Outbound => {
  const guard = new Guard({
    privateTargets: settings['outbound.private_targets'],
    origin: settings.origins['outbound.private_targets'] ?? 'outbound.private_targets',
    ownPorts: deps.ownPorts,
  })
  const open = new Set([80, 443, ...settings['outbound.ports']])
  const resolve = deps.resolve ?? resolveBySystem
  const dialling: Dialling = {
    guard,
    resolve,
    proxy: proxyOf(settings),
    secureContext: secureContextOf(settings),
    connectTimeoutMs: deps.connectTimeoutMs ?? 5_000,
    isOpenPort: (port) => open.has(port),
  }
  // A port that policy names, or that a person is asked for, needs no setting as well.
  const anyPort: Dialling = { ...dialling, isOpenPort: () => true }
  return {
    request: (request, signal) => sendRequest(request, dialling, signal),

    keepConnections: (...given) => keepConnections(dialling, ...given),

    async lookup(hostname, signal) {
      const host = parseHost(hostname)
      const deadline = new Deadline(lookupMs, signal)
      try {
        const found = await deadline.race(resolve(host))
        const addresses = [...new Set(found.map(({ address }) => address))]
        if (addresses.length > 0 && addresses.every((address) => guard.mayTell(address)))
          return addresses
      } catch (cause) {
        if (signal.aborted) throw cause
        // Not there, not told and not answered in time all read the same.
      } finally {
        deadline.clear()
      }
      throw new GatehouseError('HostUnreachable', { host })
    },

    async connect({ host, port, timeout_ms }, signal) {
      const name = parseHost(host)
      const connector = await createDialler({ ...anyPort, connectTimeoutMs: timeout_ms })
      const began = performance.now()
      const deadline = new Deadline(timeout_ms, signal)
      const latency = () => Math.round((performance.now() - began) * 10) / 10
      try {
        const socket = await dial(connector, { host: name, port }, deadline.signal)
        const latency_ms = latency()
        socket.destroy()
        return { open: true, latency_ms }
      } catch (cause) {
        if (signal.aborted) throw cause
        return { open: false, latency_ms: latency() }
      } finally {
        deadline.clear()
      }
    },

    openEgress: async (hosts) =>
      openEgress(hosts, { connector: await createDialler(anyPort), folder: tmpdir() }),
  }
}
