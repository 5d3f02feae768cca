import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { CliError, usageError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'

const host = '127.0.0.1'
const datagramBytesMax = 1_200
/** Together ten seconds: a service that is busy may need some, and one that does not run was refused before. */
const tries = 15
const answerMs = 700

export type WakeAnswer = { readonly id: string; readonly ok: boolean; readonly error?: string }

const isAnswer = (value: unknown, id: string): value is WakeAnswer =>
  typeof value === 'object' &&
  value !== null &&
  'id' in value &&
  value.id === id &&
  'ok' in value &&
  typeof value.ok === 'boolean'

const parsed = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as unknown
  } catch {
    return null
  }
}

/** Sends a wake and waits for its answer; a datagram may be lost, so it is sent again before giving up; the service knows its id. */
export async function sendWake(
  port: number,
  wake: { readonly agent: string; readonly reason?: string; readonly data?: object },
  signal: AbortSignal,
): Promise<WakeAnswer> {
  const id = randomBytes(12).toString('hex')
  const bytes = new TextEncoder().encode(JSON.stringify({ ...wake, id }))
  if (bytes.length > datagramBytesMax)
    throw usageError(`A wake has at most ${datagramBytesMax} bytes; this one has ${bytes.length}.`)
  const socket = createSocket('udp4')
  try {
    return await new Promise<WakeAnswer>((resolve, reject) => {
      let sent = 0
      const send = () => {
        if (sent === tries) {
          const text = `Nothing answers at UDP port ${port} of ${host}.`
          reject(new CliError('NotReachable', exitCodes.notReachable, text))
          return
        }
        sent += 1
        socket.send(bytes, port, host)
        timer = setTimeout(send, answerMs)
      }
      let timer: NodeJS.Timeout | undefined
      const end = () => clearTimeout(timer)
      socket.on('message', (answer, from) => {
        const value = parsed(answer)
        if (from.port !== port || from.address !== host || !isAnswer(value, id)) return
        end()
        resolve(value)
      })
      socket.once('error', (cause) => {
        end()
        reject(cause)
      })
      signal.addEventListener('abort', () => {
        end()
        reject(new CliError('Cancelled', exitCodes.failed, 'Ended before an answer came.'))
      })
      socket.bind(0, host, send)
    })
  } finally {
    socket.close()
  }
}
