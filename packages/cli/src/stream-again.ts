import { ClientError, type ServerEvent } from '@gatehouse/rest-client'

const waitMsMax = 10_000

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })

/** A stream across lost connections. Ends with the signal; raises what will not get better by itself. */
export async function* streamAgain(
  open: () => AsyncIterable<ServerEvent>,
  signal: AbortSignal,
  onLost: (error: unknown) => Promise<void>,
): AsyncGenerator<ServerEvent> {
  let waitMs = 1_000
  let seen = false
  while (!signal.aborted) {
    try {
      for await (const event of open()) {
        seen = true
        waitMs = 1_000
        yield event
      }
      if (!signal.aborted) await onLost(null)
    } catch (error) {
      if (signal.aborted) return
      const refused = error instanceof ClientError && error.status < 500
      if (refused || !seen) throw error
      await onLost(error)
    }
    await pause(waitMs, signal)
    waitMs = Math.min(waitMs * 2, waitMsMax)
  }
}
