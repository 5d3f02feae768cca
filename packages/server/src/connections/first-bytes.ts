import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Reads the first bytes of a connection, and pauses it. One that says nothing is idle, as one between two requests is: it is
 * closed without a word after `silentMs`, which is no shorter than a kept one waits. Clients keep such connections, for example that of a request
 * they gave up, and send the next request over it: an answer that nobody asked for, or a close before the time that
 * `Keep-Alive` told, would meet that request.
 */
export const firstBytes = (
  socket: Socket,
  silentMs: number,
  then: (head: Buffer) => void,
): void => {
  const close = (): void => void socket.destroy()
  const end = (): void => void socket.end()
  const read = (head: Buffer): void => {
    socket.off('error', close).off('timeout', close).off('end', end).off('data', read)
    socket.setTimeout(0)
    socket.pause()
    then(head)
  }
  socket.setTimeout(silentMs)
  socket.on('error', close).on('timeout', close).on('end', end).on('data', read)
}

/** Has whoever `serve` gives a connection to read it from `head` on. */
export const readAnew = (socket: Socket, head: Uint8Array, serve: () => void): void => {
  socket.pause()
  if (head.length > 0) socket.unshift(head)
  serve()
  socket.resume()
}

type Opened = 'connection' | 'secureConnection'

/** The listener by which Node's server takes a connection. It is the server's no longer: others come first. */
export const takeNodesListener = (server: Server, opened: Opened): ((socket: Socket) => void) => {
  const [listener] = server.listeners(opened)
  if (!listener) throw new Error('node:http takes no connections')
  server.off(opened, listener as (socket: Socket) => void)
  return (socket) => void listener.call(server, socket)
}

/** Has the times of Node's server for slow requests begin with the first bytes of a connection rather than with the connection. */
export const awaitFirstBytes = (server: Server, opened: Opened, silentMs: number): void => {
  const serve = takeNodesListener(server, opened)
  server.on(opened, (socket: Socket) => {
    firstBytes(socket, silentMs, (head) => readAnew(socket, head, () => serve(socket)))
  })
}
