import { Agent, type IncomingMessage, request } from 'node:http'
import { openRequest } from '@gatehouse/server/connections/open-request'

type Init = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export type Answer = {
  readonly status: number
  readonly text: () => Promise<string>
  readonly json: () => Promise<unknown>
}

/** The service closes a connection that is idle for 30 s, and a busy one also where a request has just come over it. */
const idleMs = 20_000

/** Fewer than the sockets without headers that a gateway keeps: beyond those it closes the oldest. */
const agent = new Agent({ keepAlive: true, maxSockets: 256, timeout: idleMs })

/**
 * As `fetch` does, and without its limits of time: on a very busy machine a connection takes longer than the ten seconds that
 * it waits for one, and nothing of that is a fault of the service.
 */
export const patientFetch = async (url: string, init: Init = {}): Promise<Answer> => {
  const { method = 'GET', headers = {}, body = '' } = init
  const length = method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const options = { agent, method, headers: { ...headers, ...length } }
  const sent = await openRequest(() => request(url, options))
  return new Promise((resolve, reject) => {
    sent.on('error', reject)
    sent.on('response', (answer: IncomingMessage) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({
          status: answer.statusCode ?? 0,
          text: async () => text,
          json: async () => JSON.parse(text) as unknown,
        })
      })
    })
    sent.end(body)
  })
}
