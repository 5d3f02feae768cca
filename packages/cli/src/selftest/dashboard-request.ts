import { readFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import type { Installation, Run } from './installation.ts'

export type WebAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

type Sending = {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export type Web = (method: string, path: string, sending?: Sending) => Promise<WebAnswer>

/** Requests to the dashboard as they stand: nothing resolves dots or adds headers. */
export const webOf =
  ({ dataDir }: Pick<Installation, 'dataDir'>, { dashboard_url }: Run): Web =>
  (method, path, { headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const { port } = new URL(dashboard_url)
      const text = body === undefined ? '' : JSON.stringify(body)
      const sent = httpsRequest(
        {
          ...{ host: '127.0.0.1', port, servername: 'localhost', method, path, agent: false },
          ca: readFileSync(join(dataDir, 'tls', 'ca.pem')),
          headers: {
            ...(body === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
            ...headers,
          },
        },
        (message) => {
          let received = ''
          message.setEncoding('utf8')
          message.on('data', (chunk: string) => {
            received += chunk
          })
          message.on('end', () =>
            resolve({
              status: message.statusCode ?? 0,
              headers: message.headers,
              text: received,
            }),
          )
        },
      )
      sent.on('error', reject)
      sent.end(text)
    })

export const cookieOf = ({ headers }: WebAnswer): string =>
  String(headers['set-cookie']?.[0] ?? '').split(';', 1)[0] ?? ''
