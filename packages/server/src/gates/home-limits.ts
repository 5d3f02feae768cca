import { agentOfKey } from '../domain/limit-key.ts'
import type { LimitKey } from '../domain/sliding-window.ts'
import type { Clock } from '../ports/clock.ts'
import type { Gates } from '../ports/gates.ts'
import type { RateLimits } from '../ports/limits.ts'
import type { Storage } from '../ports/storage.ts'

type Parts = {
  readonly gates: Gates | null
  readonly storage: Pick<Storage, 'limits' | 'record' | 'flush' | 'isNetworked'>
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Limits of an agent are counted in one process, its home, which is where its connections are: exact without being shared.
 * What another process does for the agent (a schedule, an approved call) is counted there, too, and stored before it is
 * answered, since the entry of that call lies in another log.
 */
export const homeLimits = ({
  gates,
  storage,
}: {
  readonly gates: Gates
  readonly storage: Pick<Storage, 'limits'>
}): RateLimits => {
  const { limits } = storage
  const homeOf = ({ key }: LimitKey): number => gates.homeOf(agentOfKey(key))
  return {
    take(keys, nowMs) {
      const [first] = keys
      const home = first ? homeOf(first) : gates.index
      return home === gates.index ? limits.take(keys, nowMs) : gates.ask(home, 'take', keys)
    },
    restore: (stamps) => limits.restore(stamps),
    used(key, nowMs) {
      const home = homeOf(key)
      return home === gates.index ? limits.used(key, nowMs) : gates.ask(home, 'used', key)
    },
  }
}

/** Counts for other processes what has its home here; where the store is networked everybody counts in it. */
export const answerLimits = ({ gates, storage, clock }: Parts): void => {
  if (!gates || storage.isNetworked) return
  gates.answer('used', (key) => storage.limits.used(key, clock.now()))
  gates.answer('take', async (keys) => {
    const verdict = await storage.limits.take(keys, clock.now())
    if (verdict.kind === 'limited') return verdict
    const nothing = { chain: '', rows: [], agentCounts: new Map(), sessionCounts: new Map() }
    await storage.record({ ...nothing, stamps: verdict.stamps, clockMs: clock.now() })
    // @SECURITY A use that only this process remembered would be forgotten with it; workers.test.ts.
    await storage.flush()
    return { kind: 'allowed', stamps: [] }
  })
}
