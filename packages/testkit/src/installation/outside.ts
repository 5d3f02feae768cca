import type { Outbound } from '@gatehouse/server/ports/outbound'

/** A document at an address; `stallsAt` sends so many bytes, and then nothing until the request is given up. */
export type OutsideDocument = { readonly bytes: Uint8Array; readonly stallsAt?: number }

const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = () => reject(signal.reason as Error)
    if (signal.aborted) return stop()
    signal.addEventListener('abort', stop, { once: true })
  })

async function* bodyOf({ bytes, stallsAt }: OutsideDocument, from: number, signal: AbortSignal) {
  yield bytes.subarray(from, stallsAt)
  if (stallsAt !== undefined) await never(signal)
}

/** A network of a few documents, in memory; whatever else is asked for is not found. */
export const createOutside = (documents: Readonly<Record<string, OutsideDocument>>): Outbound => ({
  async request({ url, headers }, signal) {
    const document = documents[url]
    const from = Number(/^bytes=(\d+)-/.exec(headers['range'] ?? '')?.[1] ?? 0)
    const last = (document?.bytes.length ?? 0) - 1
    return {
      status: document ? (from > 0 ? 206 : 200) : 404,
      headers: from > 0 ? { 'content-range': `bytes ${from}-${last}/${last + 1}` } : {},
      url,
      body: document ? bodyOf(document, from, signal) : (async function* () {})(),
      [Symbol.asyncDispose]: async () => undefined,
    }
  },
  keepConnections: () => {
    throw new Error('connections to this network are not kept')
  },
  lookup: async () => [],
  connect: async () => ({ open: false, latency_ms: 0 }),
  openEgress: () => Promise.reject(new Error('nothing of this network may be reached by programs')),
})
