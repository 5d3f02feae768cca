import type { Socket } from 'node:net'
import type { Server } from 'node:tls'
import { HeadlessSockets } from './headless-sockets.ts'

const underWayMax = 512

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

/** Bounds the TLS handshakes under way, and returns them: when there are too many, the oldest goes. H12. */
export function boundHandshakes(server: Server): HeadlessSockets {
  const sockets = new HeadlessSockets(underWayMax)
  const raw = new Map<string, Socket>()
  const done = (key: string): void => {
    const socket = raw.get(key)
    if (!socket) return
    raw.delete(key)
    sockets.delete(socket)
  }
  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket)
    raw.set(key, socket)
    sockets.add(socket)
    socket.once('close', () => done(key))
  })
  server.on('secureConnection', (socket) => done(keyOf(socket)))
  // A connection without TLS, or with one that is too old, is closed by Node; there is nobody to tell.
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  return sockets
}
