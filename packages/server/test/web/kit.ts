import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openService, type Started } from '../../src/main.ts'

export type Answered = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** The cookie it sets, as a browser would send it back. */
  readonly cookie: string
}

export type Sending = {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Called with the first of an answer that goes on. */
  readonly onBegun?: () => void
}

/** A whole service, and what a browser does at its listener for people. */
export type DashboardKit = AsyncDisposable & {
  readonly service: Started
  readonly url: string
  readonly ca: string
  readonly folder: string
  send(method: string, path: string, sending?: Sending): Promise<Answered>
}

export async function openDashboardKit(): Promise<DashboardKit> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-web-'))
  const service = await openService({
    'data-dir': folder,
    'gateway-port': '0',
    'user-api-port': '0',
    'dashboard-port': '0',
    'wake-port': '0',
    'no-first-agent': true,
    'log-level': 'silent',
  })
  const url = service.run.dashboard_url
  const ca = readFileSync(join(folder, 'tls', 'ca.pem'), 'utf8')
  const { hostname: host, port } = new URL(url)
  return {
    service,
    url,
    ca,
    folder,
    send: (method, path, { headers = {}, body, onBegun } = {}) =>
      new Promise((resolve, reject) => {
        const text = typeof body === 'string' ? body : JSON.stringify(body)
        const sent = request(
          {
            host,
            port,
            ca,
            // The name of this server, whatever Host the request says.
            servername: 'localhost',
            method,
            // As it stands: no client resolves dots before it is sent.
            path,
            headers: {
              ...(body === undefined
                ? {}
                : {
                    'content-type': 'application/json',
                    'content-length': Buffer.byteLength(text),
                  }),
              ...headers,
            },
          },
          (message) => {
            let received = ''
            message.setEncoding('utf8')
            if (onBegun) message.once('data', onBegun)
            message.on('data', (chunk: string) => {
              received += chunk
            })
            message.on('end', () =>
              resolve({
                status: message.statusCode ?? 0,
                headers: message.headers,
                text: received,
                cookie: message.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '',
              }),
            )
          },
        )
        sent.on('error', reject)
        sent.end(body === undefined ? undefined : text)
      }),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const password = 'correct horse battery'

export const setupTokenOf = ({ service }: DashboardKit): string =>
  new URL(service.setupLink ?? '').hash.replace('#setup=', '')

/** Makes the first operator, and returns the cookie of its login. */
export async function setUp(kit: DashboardKit): Promise<string> {
  const body = { token: setupTokenOf(kit), password, name: 'ana' }
  const answer = await kit.send('POST', '/api/setup', { body })
  if (answer.status !== 201) throw new Error(`set-up answered ${answer.status}: ${answer.text}`)
  return answer.cookie
}
