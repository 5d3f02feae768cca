import type { Socket } from 'node:net'
import { firstBytes, readAnew } from '../../connections/first-bytes.ts'
import { isTls } from './node-links.ts'

type Handle = { reading: boolean; readStart(): void; readStop(): void }

const headBytesMax = 8 * 1024
const none = Buffer.alloc(0)
const authorization = /\r\nauthorization:[ \t]*bearer[ \t]+([0-9a-f]{64})[ \t]*\r\n/i
const inAddress = /^GET \S*[?&]token=([0-9a-f]{64})[& ]/

/** The token that the first bytes of a connection show; null where they show none. */
export const tokenIn = (head: Buffer): string | null => {
  const text = head.toString('latin1', 0, headBytesMax)
  return (authorization.exec(text) ?? inAddress.exec(text))?.[1] ?? null
}

/** Gives a connection to another process, with what was read of it. Whether there was somebody to take it. */
export type HandOver = (socket: Socket, head: Buffer) => boolean

/**
 * Reads no further, so that whoever gets the descriptor reads the rest. Node has no public way for that: a paused socket
 * goes on to fill its buffer. What is in the buffer already is returned.
 */
const stopReading = (socket: Socket): Buffer => {
  const buffered: Buffer = socket.read() ?? none
  const { _handle: handle } = socket as unknown as { readonly _handle: Handle | null }
  if (!handle) return buffered
  // @SECURITY From here on no byte is lost between the two processes: pass-on.test.ts, workers.test.ts.
  handle.reading = false
  handle.readStop()
  return buffered
}

/** Nobody took it: the stream believes that it never stopped. */
const goOnReading = (socket: Socket): void => {
  const { _handle: handle } = socket as unknown as { readonly _handle: Handle | null }
  if (!handle) return
  handle.reading = true
  handle.readStart()
}

type Ways = {
  /** The way to the process that serves the agent of a token; null where that is this one. */
  readonly wayTo?: ((token: string) => Promise<HandOver | null>) | undefined
  /** Takes a connection of TLS, as other nodes open them; absent where there are none. */
  readonly secure?: ((head: Buffer) => void) | undefined
  /** Somebody else took it. */
  readonly gone: () => void
  /** Serves it here. */
  readonly serve: () => void
  /** How long its first bytes are waited for. */
  readonly silentMs: number
}

/**
 * Gives a connection to whom its first bytes are for: another node that opened it, or the process that serves the agent of its
 * first request. The second is about where it is quick, never about
 * what is allowed: each process checks every request, and can serve any agent.
 */
export const passOn = (socket: Socket, { wayTo, secure, gone, serve, silentMs }: Ways): void => {
  const failed = (): void => void socket.destroy()
  const ended = (): void => void socket.end()
  const forget = (): void => void socket.off('error', failed).off('end', ended)
  const here = (head: Buffer): void => {
    forget()
    if (!socket.destroyed) readAnew(socket, head, serve)
  }
  const there = (handOver: HandOver, head: Buffer): void => {
    const all = Buffer.concat([head, stopReading(socket)])
    if (handOver(socket, all)) {
      forget()
      return gone()
    }
    goOnReading(socket)
    here(all)
  }
  firstBytes(socket, silentMs, (head) => {
    if (secure && isTls(head)) {
      gone()
      return secure(head)
    }
    const token = wayTo ? tokenIn(head) : null
    if (!wayTo || token === null) return here(head)
    socket.on('error', failed).on('end', ended)
    wayTo(token).then(
      (handOver) => (handOver && !socket.destroyed ? there(handOver, head) : here(head)),
      () => here(head),
    )
  })
}
