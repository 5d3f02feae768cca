import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

const leavesWithinMs = 60_000

export type LeavingPeer = AsyncDisposable & {
  readonly port: number
  /** Closes all it has. Nothing of that is heard here before this turn of the event loop is over. */
  leave(): void
}

/** An HTTP server that closes its kept connections, and whose end a busy client has not heard of. */
export const leavingPeer = async (
  options: {
    readonly secured?: { readonly cert: string; readonly key: string }
    /** Bytes that each connection begins with. */
    readonly greeting?: Uint8Array
  } = {},
): Promise<LeavingPeer> => {
  const ended = new Int32Array(new SharedArrayBuffer(4))
  const thread = new Worker(new URL('leaving-peer.mjs', import.meta.url), {
    workerData: { ...options, ended },
  })
  const [port] = (await once(thread, 'message')) as [number]
  return {
    port,
    leave() {
      thread.postMessage('leave')
      if (Atomics.wait(ended, 0, 0, leavesWithinMs) === 'timed-out')
        throw new Error('it did not leave')
    },
    [Symbol.asyncDispose]: async () => void (await thread.terminate()),
  }
}
