import { Agent, request } from 'node:http'

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

/** Idle connections end here before the service ends them. */
const agent = new Agent({ keepAlive: true, timeout: 4_000 })

/**
 * As `fetch` does, and without its limits of time: on a very busy machine a connection takes longer than the ten seconds that
 * it waits for one, and nothing of that is a fault of the service.
 */
export const patientFetch = (url: string, init: Init = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body = '' } = init
    const length = method === 'GET' ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const sent = request(url, { agent, method, headers: { ...headers, ...length } }, (answer) => {
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
    sent.on('error', reject)
    sent.end(body)
  })
