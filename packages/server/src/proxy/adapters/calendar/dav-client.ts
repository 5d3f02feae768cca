import { Buffer } from 'node:buffer'
import { request as beginHttp, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as beginHttps } from 'node:https'
import { isIP } from 'node:net'
import { GatehouseError } from '@gatehouse/contract'
import type { ServiceConnection } from '../../../ports/service-adapter.ts'
import { type CalendarSettings, endpointOf, mayBeSentTo } from './settings.ts'

export type DavTimeouts = {
  readonly connectMs: number
  /** Without a byte. */
  readonly idleMs: number
  /** From the first byte to the last. */
  readonly totalMs: number
}

export const davTimeouts: DavTimeouts = { connectMs: 15_000, idleMs: 30_000, totalMs: 60_000 }

export type DavRequest = {
  readonly method: 'GET' | 'PUT' | 'DELETE' | 'PROPFIND' | 'REPORT'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly bytesMax?: number
}

export type DavAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Where it came from in the end. */
  readonly url: URL
}

/** Raised where no answer came, or one that is none. `sent`: whether the request may have arrived. */
export class DavFailure extends Error {
  readonly code: string
  readonly sent: boolean
  readonly url: URL

  constructor(cause: unknown, sent: boolean, url: URL) {
    const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown }
    const isGarbage = typeof code === 'string' && code.startsWith('HPE_')
    // Errors of the parser carry what was received, which is not for the log.
    super(typeof message === 'string' ? message : 'it failed', isGarbage ? {} : { cause })
    this.code = typeof code === 'string' ? code : ''
    this.sent = sent
    this.url = url
  }
}

const answerBytesMax = 32 * 1024 * 1024
const headBytesMax = 32 * 1024
const redirectsMax = 5

const coded = (code: string, message: string): Error => Object.assign(new Error(message), { code })

const oneOf = (headers: IncomingMessage['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  )

type Sending = {
  readonly settings: CalendarSettings
  readonly timeouts: DavTimeouts
  readonly password: string
  readonly signal: AbortSignal
}

const optionsOf = ({ settings, password }: Sending, request: DavRequest): RequestOptions => {
  const { url, method, body } = request
  const { host, port } = endpointOf(settings, url)
  const credentials = Buffer.from(`${settings.user}:${password}`, 'utf8').toString('base64')
  return {
    method,
    host,
    port,
    path: url.pathname + url.search,
    agent: false,
    maxHeaderSize: headBytesMax,
    insecureHTTPParser: false,
    headers: {
      host: url.host,
      authorization: `Basic ${credentials}`,
      'user-agent': 'gatehouse',
      accept: '*/*',
      'accept-encoding': 'identity',
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...request.headers,
    },
  }
}

/** By the parser of Node, one connection for each request: nothing of one can reach another. */
const sendOnce = (sending: Sending, request: DavRequest): Promise<DavAnswer> =>
  new Promise((resolve, reject) => {
    const { settings, timeouts, signal } = sending
    const { url } = request
    const secure = url.protocol === 'https:'
    const options = optionsOf(sending, request)
    const bytesMax = request.bytesMax ?? answerBytesMax
    let sent = false
    let over = false
    const begun = secure
      ? beginHttps({
          ...options,
          // @SECURITY Certificates are checked always; an operator adds an authority, never an exception; calendar-sync.test.ts.
          rejectUnauthorized: true,
          minVersion: 'TLSv1.2',
          ...(isIP(String(options.host)) === 0 ? { servername: String(options.host) } : {}),
          ...(settings.ca_certificate === undefined ? {} : { ca: settings.ca_certificate }),
        })
      : beginHttp(options)
    const end = (finish: () => void) => {
      if (over) return
      over = true
      for (const timer of [connecting, total]) clearTimeout(timer)
      signal.removeEventListener('abort', aborted)
      finish()
    }
    const fail = (cause: unknown) => {
      end(() => reject(new DavFailure(cause, sent, url)))
      begun.destroy()
    }
    const aborted = () => fail(signal.reason)
    const late = () => coded('ETIMEDOUT', 'no answer came in time')
    const connecting = setTimeout(() => fail(coded('CONNECT_TIMEOUT', '')), timeouts.connectMs)
    const total = setTimeout(() => fail(late()), timeouts.totalMs)
    signal.addEventListener('abort', aborted, { once: true })
    begun.on('error', fail)
    begun.on('socket', (socket) => {
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        // From here on a byte may have arrived, whatever happens.
        sent = true
        clearTimeout(connecting)
        socket.setTimeout(timeouts.idleMs, () => fail(late()))
      })
    })
    begun.on('response', (answer) => {
      const chunks: Buffer[] = []
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > bytesMax) return fail(coded('TooLarge', `it sent more than ${bytesMax} bytes`))
        chunks.push(chunk)
      })
      answer.on('error', fail)
      answer.on('close', () => fail(coded('ECONNRESET', 'it cut the answer off')))
      answer.on('end', () => {
        if (!answer.complete) return fail(coded('ECONNRESET', 'it cut the answer off'))
        const { statusCode: status = 0 } = answer
        const body = Buffer.concat(chunks)
        end(() => resolve({ status, headers: oneOf(answer.headers), body, url }))
        begun.destroy()
      })
    })
    if (signal.aborted) return aborted()
    begun.end(request.body)
  })

/** Speaks HTTP to a CalDAV server, and to no other. */
export class DavClient {
  readonly connection: ServiceConnection
  readonly settings: CalendarSettings
  readonly timeouts: DavTimeouts

  constructor(connection: ServiceConnection, settings: CalendarSettings, timeouts: DavTimeouts) {
    this.connection = connection
    this.settings = settings
    this.timeouts = timeouts
  }

  /** Follows redirects of what only looks. Raises `DavFailure`, `VaultLocked`, `SecretNotFound`. */
  async send(request: DavRequest, signal: AbortSignal): Promise<DavAnswer> {
    const follows = request.method === 'PROPFIND' || request.method === 'GET'
    let { url } = request
    for (let followed = 0; ; followed += 1) {
      this.assertAllowed(url)
      const { settings, timeouts } = this
      const { host } = endpointOf(settings, url)
      const answer = await this.connection.secret('password', host, (password) =>
        sendOnce({ settings, timeouts, password, signal }, { ...request, url }),
      )
      const { location } = answer.headers
      if (!follows || location === undefined || ![301, 302, 303, 307, 308].includes(answer.status))
        return answer
      if (followed >= redirectsMax)
        throw new DavFailure(coded('TooManyRedirects', 'it leads on and on'), true, url)
      url = this.resolve(location, url)
    }
  }

  /** An address as the server wrote it. Raises `ServiceUnavailable` for one that leads elsewhere. */
  resolve(text: string, base: URL): URL {
    let url: URL
    try {
      url = new URL(text.trim(), base)
    } catch {
      throw new DavFailure(coded('NoAddress', 'it names an address that is none'), true, base)
    }
    url.hash = ''
    url.username = ''
    url.password = ''
    this.assertAllowed(url)
    return url
  }

  assertAllowed(url: URL): void {
    if (mayBeSentTo(this.settings, url)) return
    throw new GatehouseError('ServiceUnavailable', {
      service: this.connection.service,
      detail: `it leads to ${url.host}, where the password may not be sent: name that host in \`hosts\` if it belongs to the server`,
    })
  }
}
