import type { IncomingMessage } from 'node:http'
import type { Held } from '../../app/call/memory-budget.ts'

export type ReadBody =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' | 'overloaded' | 'broken' }

/**
 * Reads a body whole or not at all: what is over the limit is never handed on shortened. A body that
 * declared no length takes what it holds as it comes.
 */
export const readBody = (
  req: IncomingMessage,
  bytesMax: number,
  held: Held,
  declared: number,
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
      }
      resolve(outcome)
    }
    const onData = (chunk: Buffer): void => {
      if (total + chunk.length > bytesMax) return end({ kind: 'too_large' })
      if (declared === 0 && !held.grow(chunk.length)) return end({ kind: 'overloaded' })
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
    // Events may come again behind the end, and then say nothing new.
    req.on('end', onEnd)
    req.on('close', onClose)
  })
