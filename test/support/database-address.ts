import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** The address of a database, which does not change: what answers there does, and may be nobody. */
export const openDatabaseAddress = async (firstPort: number) => {
  let port: number | null = firstPort
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    if (port === null) return void client.destroy()
    const upstream = connect(port, '127.0.0.1')
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    pointTo(next: number | null) {
      port = next
      for (const socket of sockets) socket.destroy()
    },
    [Symbol.dispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

export const portOf = (url: string): number => Number(new URL(url).port)
