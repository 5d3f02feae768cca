import { GatehouseError, LimitError, Unreachable } from './gatehouse-error.ts'
import { pause } from './or-aborted.ts'

/** A longer wait is for the caller to decide on. */
const waitMsMax = 60_000
const firstPauseMs = 250
const pauseMsMax = 10_000

const backoffMs = (attempt: number): number => Math.min(firstPauseMs * 2 ** attempt, pauseMsMax)

/** Of JSON-RPC: the gate refused the call. A capability that failed has no code, whatever its type. */
const rateLimited = -32000

/** How long to wait before the next attempt; null where there must be none. */
type Patience = (thrown: GatehouseError, attempt: number) => number | null

/**
 * @SECURITY Only what is known not to have run may be made again: a call whose answer was lost could
 * take effect twice; lost-answers.test.ts.
 */
const didNotRun: Patience = (thrown, attempt) => {
  if (thrown instanceof Unreachable) return thrown.sent ? null : backoffMs(attempt)
  if (!(thrown instanceof LimitError) || thrown.code !== rateLimited) return null
  // Only people make room here.
  if (thrown.type === 'TooManyPending') return null
  const waitMs =
    thrown.retryAfterSeconds === null ? backoffMs(attempt) : thrown.retryAfterSeconds * 1000
  return waitMs <= waitMsMax ? waitMs : null
}

/** A question has no effect, so that it may be asked again whatever became of the last one. */
const ofQuestion: Patience = (thrown, attempt) =>
  thrown instanceof Unreachable ? backoffMs(attempt) : didNotRun(thrown, attempt)

const attempt = async <T>(
  work: () => Promise<T>,
  patience: Patience,
  attemptsMax: number,
  signal: AbortSignal,
): Promise<T> => {
  for (let made = 0; ; made += 1) {
    try {
      return await work()
    } catch (thrown) {
      const waitMs = thrown instanceof GatehouseError ? patience(thrown, made) : null
      if (waitMs === null || made + 1 >= attemptsMax) throw thrown
      await pause(waitMs, signal)
    }
  }
}

/** Makes a call, again only while it did not run. */
export const attemptCall = <T>(
  work: () => Promise<T>,
  maxRetries: number,
  signal: AbortSignal,
): Promise<T> => attempt(work, didNotRun, maxRetries + 1, signal)

/** About five minutes without an answer. */
const questionsMax = 35

/** Asks until there is an answer: a connection that broke or a service that restarts ends no wait. */
export const attemptQuestion = <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> =>
  attempt(work, ofQuestion, questionsMax, signal)
