import type { IncomingMessage } from 'node:http'

/** Bytes of bodies that are held at once, over all connections. */
export class BodyBudget {
  readonly #max: number
  #used = 0

  constructor(max: number) {
    this.#max = max
  }

  get used(): number {
    return this.#used
  }

  take(bytes: number): boolean {
    if (this.#used + bytes > this.#max) return false
    this.#used += bytes
    return true
  }

  release(bytes: number): void {
    this.#used -= bytes
  }
}

export type ReadBody =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' | 'overloaded' | 'broken' }

/**
 * Reads a body whole or not at all: what is over the limit is never handed on shortened. The bytes stay
 * charged to the budget; whoever gets them releases `bytes.length` when they are parsed.
 */
export const readBody = (
  req: IncomingMessage,
  bytesMax: number,
  budget: BodyBudget,
): Promise<ReadBody> =>
  new Promise((resolve) => {
    let first: Buffer | undefined
    let chunks: Buffer[] | undefined
    let total = 0
    let ended = false
    const end = (outcome: ReadBody): void => {
      if (ended) return
      ended = true
      if (outcome.kind !== 'read') {
        req.off('data', onData)
        req.pause()
        budget.release(total)
      }
      resolve(outcome)
    }
    const onData = (chunk: Buffer): void => {
      if (total + chunk.length > bytesMax) return end({ kind: 'too_large' })
      if (!budget.take(chunk.length)) return end({ kind: 'overloaded' })
      total += chunk.length
      if (first === undefined) first = chunk
      else if (chunks === undefined) chunks = [first, chunk]
      else chunks.push(chunk)
    }
    const onEnd = (): void =>
      end({
        kind: 'read',
        bytes: chunks ? Buffer.concat(chunks, total) : (first ?? Buffer.alloc(0)),
      })
    const onClose = (): void => end({ kind: 'broken' })
    req.on('data', onData)
    // They may come again behind the end, and then say nothing new.
    req.on('end', onEnd)
    req.on('close', onClose)
  })
