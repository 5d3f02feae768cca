import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Closes a response with its connection, also where it is queued behind another one of a pipeline: Node
 * tells only the response that is being sent.
 */
export const closeWithConnection = ({ socket }: IncomingMessage, res: ServerResponse): void => {
  if (res.socket) return
  const closed = (): void => {
    if (res.destroyed) return
    res.destroy()
    res.emit('close')
  }
  // A pipeline has as many requests as its peer likes.
  socket.setMaxListeners(0)
  socket.once('close', closed)
  res.once('socket', () => socket.off('close', closed))
}
