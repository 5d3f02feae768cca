import { once } from 'node:events'
import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turnEnded } from 'node:timers/promises'

/** Resolves when all that had come to this process is heard: its event loop ends this turn, and takes in what came in it. */
const allHeard = async (): Promise<void> => {
  await turnEnded()
  await turnEnded()
}

/** Resolves when a request has a connection, of which a kept one is still open. Raises why it has none, or that it ended. */
const connected = async (begun: ClientRequest): Promise<void> => {
  let fault: Error | null = null
  begun.on('error', (cause) => (fault ??= cause))
  const [socket] = (await once(begun, 'socket')) as [Socket]
  if (begun.reusedSocket) {
    await allHeard()
    if (!socket.readable || !socket.writable) begun.destroy()
  }
  // From here to whoever listens next no event comes between.
  if (begun.destroyed) throw fault ?? new Error('the connection was closed')
}

/**
 * A request with a connection, perhaps one that is still being made; nothing is sent yet. `begin` begins it without its body, and is asked again where a
 * kept connection has ended: a busy process may not have heard of that, and what is sent over it then is lost, or so it
 * seems to whoever must not send it twice. Raises why there is no connection.
 */
export const openRequest = async (begin: () => ClientRequest): Promise<ClientRequest> => {
  for (;;) {
    const begun = begin()
    try {
      await connected(begun)
      return begun
    } catch (cause) {
      if (!begun.reusedSocket) throw cause
    }
  }
}
