import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below what systems give to connections and to whoever listens on any port, and above what browsers refuse. */
const [first, end] = [11_000, 32_000]

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/**
 * Ports that nobody listens on now. The system gives none of them away by itself: only a test that draws the same one can
 * take it before it is listened on, or while whoever listens there is down for a moment.
 */
export const freePorts = async (count: number): Promise<number[]> => {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(first, end)
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}
