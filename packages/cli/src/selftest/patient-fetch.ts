import { Agent, request } from 'node:http'
import type { Duplex } from 'node:stream'

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

/** Fewer than the sockets without headers that a gateway keeps: beyond those it closes the oldest. */
const agent = new Agent({ keepAlive: true, maxSockets: 256 })
/** Less than any listener lets a connection rest. */
const idleMaxMs = 2_000
const idleSince = new WeakMap<Duplex, number>()
agent.on('free', (socket: Duplex) => idleSince.set(socket, performance.now()))

/** Ends connections that the service may have ended meanwhile, which a process that was busy has not seen yet. */
const endIdle = (): void => {
  const now = performance.now()
  for (const socket of Object.values(agent.freeSockets).flat())
    if (socket && now - (idleSince.get(socket) ?? 0) > idleMaxMs) socket.destroy()
}

/**
 * As `fetch` does, and without its limits of time: on a very busy machine a connection takes longer than the ten seconds that
 * it waits for one, and nothing of that is a fault of the service.
 */
export const patientFetch = (url: string, init: Init = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body = '' } = init
    endIdle()
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
