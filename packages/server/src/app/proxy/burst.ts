import { limitKey } from '../../domain/limit-key.ts'
import type { LimitStamp } from '../../ports/limits.ts'
import type { Basics } from '../call/basics.ts'
import type { ProxySettings } from './deps.ts'

export type BurstVerdict =
  | { readonly kind: 'usual'; readonly stamps: readonly LimitStamp[] }
  /** More writes than are usual: a person is asked, for this reason. */
  | { readonly kind: 'burst'; readonly reason: string }

/** Asked by the gate for each call that policy lets buffer a write by itself. */
export type Bursts = { take(agent: string): Promise<BurstVerdict> }

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`

/** Counts the writes of each agent exactly, across restarts and nodes. */
export const createBursts = (
  { storage, clock }: Pick<Basics, 'storage' | 'clock'>,
  settings: Pick<ProxySettings, 'proxy.burst_limit' | 'proxy.burst_window'>,
): Bursts => ({
  async take(agent) {
    const { 'proxy.burst_limit': limit, 'proxy.burst_window': windowMs } = settings
    const key = limitKey(agent, 'writes', { limit, window_ms: windowMs })
    const verdict = await storage.limits.take([key], clock.now())
    if (verdict.kind !== 'limited') return { kind: 'usual', stamps: verdict.stamps }
    const reason = `A burst: more than ${limit} writes by ${agent} within ${seconds(windowMs)}`
    return { kind: 'burst', reason }
  },
})
