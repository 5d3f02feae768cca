import type { Basics } from './basics.ts'

type Deps = Pick<Basics, 'clock' | 'log'> & { readonly signal: AbortSignal }

const againMs = 1_000

/**
 * Stores what has happened already: tried each second until the store takes it. False where the service
 * stops before that, and the next start has to find out.
 */
export async function untilStored(
  { clock, log, signal }: Deps,
  store: () => Promise<void>,
  failed: { readonly facts: object; readonly message: string },
): Promise<boolean> {
  for (;;) {
    try {
      await store()
      return true
    } catch (cause) {
      log.error({ err: cause, ...failed.facts }, failed.message)
      if (signal.aborted) return false
      await clock.sleep(againMs, signal)
    }
  }
}
