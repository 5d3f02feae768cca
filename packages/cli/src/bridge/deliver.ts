import {
  type Answer,
  AnswerLost,
  type Exchange,
  type Gateway,
  NotSent,
  TakesNone,
} from './gateway.ts'

/** How long a message waits for a service that does not run before it is answered with an error. */
const absentMs = 10_000
/** The same for one that ran before: it may be restarting. */
const restartMs = 30_000
const firstPauseMs = 50
const longestPauseMs = 5_000
/** Attempts after which the pauses of a message grow no more. */
const slowest = 4
/** A stream that lasted this long was no vain attempt. */
export const steadyMs = 1_000

/** Longer after each attempt, for a service that may be away for a day. */
export const pauseAfter = (attempt: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const ms = Math.min(firstPauseMs * 2 ** Math.min(attempt, 16), longestPauseMs)
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })

/** Whether it did not reach the service, or may have, which does no harm to it. */
const mayRepeat = (thrown: unknown, repeats: boolean): boolean =>
  thrown instanceof NotSent || (thrown instanceof AnswerLost && repeats)

export type Way = {
  readonly gateway: Gateway
  /** Starts the service where none runs; absent where that was not asked for. */
  readonly start?: () => Promise<void>
}

/**
 * Sends a message, again and again for a while if it does not reach the service, or is taken by none that stops or is
 * busy, whose refusal is the answer in the end. Where its answer was lost it is sent again only if that does no harm
 * (`repeats`). Raises `NotSent` and `AnswerLost`.
 */
export async function deliver(
  { gateway, start }: Way,
  what: Exchange,
  repeats: boolean,
  hear: (text: string) => Promise<void>,
): Promise<Answer> {
  const waitMs = gateway.wasReached ? restartMs : absentMs
  /** Set with the first failure: a service that is slow to answer is none that is away. */
  let endMs: number | null = null
  let isStarted = false
  for (let attempt = 0; ; attempt += 1)
    try {
      return await gateway.exchange(what, hear)
    } catch (thrown) {
      if (!mayRepeat(thrown, repeats) || what.signal.aborted) throw thrown
      const isThere = thrown instanceof TakesNone
      endMs ??= performance.now() + waitMs
      if (start && thrown instanceof NotSent && !isThere && !isStarted) {
        isStarted = true
        await start()
        endMs = performance.now() + waitMs
      }
      if (performance.now() >= endMs) {
        if (isThere) return thrown.answer
        throw thrown
      }
      // A service that is busy is asked less often from the start.
      await pauseAfter(isThere ? slowest : Math.min(attempt, slowest), what.signal)
    }
}
