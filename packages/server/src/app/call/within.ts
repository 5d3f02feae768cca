import { GatehouseError } from '@gatehouse/contract'
import type { Clock } from '../../ports/clock.ts'

/** Raised by `within` when the time is up. Whether the work has stopped is not known then. */
export class TimeUp extends Error {
  constructor(seconds: number) {
    super(`no answer within ${seconds} s`)
    this.name = 'TimeUp'
  }
}

/**
 * Waits for the work at most so long, and aborts its signal then, or when the given one aborts. Work that
 * does not heed its signal is left behind.
 */
export async function within<T>(
  clock: Clock,
  seconds: number,
  given: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController()
  const signal = AbortSignal.any([given, limit.signal])
  let timer: Disposable | undefined
  let stop: (() => void) | undefined
  try {
    return await new Promise<T>((resolve, reject) => {
      stop = () => reject(new GatehouseError('Cancelled', {}, { cause: given.reason }))
      if (given.aborted) return stop()
      given.addEventListener('abort', stop, { once: true })
      timer = clock.after(seconds * 1000, () => {
        const late = new TimeUp(seconds)
        reject(late)
        limit.abort(late)
      })
      work(signal).then(resolve, reject)
    })
  } finally {
    timer?.[Symbol.dispose]()
    if (stop) given.removeEventListener('abort', stop)
  }
}
