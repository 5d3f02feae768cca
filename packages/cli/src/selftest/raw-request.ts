import { connect } from 'node:net'
import { parseMembers } from '../bridge/message.ts'
import { type Run, type Sheddable, shedForSeconds, untilAccepted } from './installation.ts'

export type RawAnswer = {
  readonly status: number
  readonly head: string
  readonly body: string
  readonly closed: boolean
}

/** Far longer than an answer takes: what is tried is what it says, on however busy a machine. */
const answerMs = 60_000

const sendOnce = (run: Run, bytes: string | Buffer): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(run.gateway_url)
    const socket = connect({ port: Number(port), host: '127.0.0.1' }, () => socket.write(bytes))
    let text = ''
    let closed = false
    const finish = () => {
      clearTimeout(timer)
      socket.destroy()
      const [head = '', ...rest] = text.split('\r\n\r\n')
      resolve({
        status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0),
        head,
        body: rest.join('\r\n\r\n'),
        closed,
      })
    }
    const timer = setTimeout(finish, answerMs)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      const [head, body] = text.split('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(head ?? '')?.[1] ?? -1)
      if (body !== undefined && (length < 0 || body.length >= length)) finish()
    })
    socket.on('close', () => {
      closed = true
      finish()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server may close while we still write: what it said before counts.
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') finish()
      else reject(error)
    })
  })

/** Of a service that takes no calls at the moment, whoever asks: what is tried is how it answers when it does. */
const comesBackInSeconds = ({ status, body }: RawAnswer): number | null =>
  status === 503 ? shedForSeconds((parseMembers(body) ?? {}) as Sheddable) : null

/** Sends exactly these bytes, and returns the first answer. */
export const raw = (run: Run, bytes: string | Buffer): Promise<RawAnswer> =>
  untilAccepted(() => sendOnce(run, bytes), comesBackInSeconds)

type Headers = Readonly<Record<string, string>>

export const request = (headers: Headers, body: string | Buffer, path = '/rpc'): Buffer => {
  const lines = Object.entries({
    Host: '127.0.0.1',
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    ...headers,
  })
  return Buffer.concat([
    Buffer.from(
      `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
    ),
    Buffer.from(body),
  ])
}

export const call = (capability: string, args: object, id: unknown = 1): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'capabilities.invoke',
    params: { capability, arguments: args },
  })
