import type { LayerLimit } from '../../domain/policy/types.ts'
import type { CapabilityRegistry } from '../../ports/capability.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LimitKey } from '../../ports/limits.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Storage } from '../../ports/storage.ts'

/** The one form of a limit's key: agent, pattern and window. */
export const limitKey = (
  agent: string,
  {
    match,
    limit,
    window_ms,
  }: { readonly match: string; readonly limit: number; readonly window_ms: number },
): LimitKey => ({ key: `${agent}\u0000${match}\u0000${window_ms}`, limit, window_ms })

/** A limit as the gate counts it. */
export type CountedLimit = LimitKey & { readonly match: string; readonly window: string }

/** By agent and by the list that the policy made once: a call only looks its keys up. */
const counted = new WeakMap<readonly LayerLimit[], Map<string, readonly CountedLimit[]>>()

export const countedLimits = (
  agent: string,
  limits: readonly LayerLimit[],
): readonly CountedLimit[] => {
  let byAgent = counted.get(limits)
  if (!byAgent) counted.set(limits, (byAgent = new Map()))
  let keys = byAgent.get(agent)
  if (!keys) {
    keys = limits.map((limit) => ({
      ...limitKey(agent, limit),
      match: limit.match,
      window: limit.window,
    }))
    byAgent.set(agent, keys)
  }
  return keys
}

type Used = {
  readonly match: string
  readonly limit: number
  readonly window: string
  readonly used: number
}

export type LimitDeps = {
  readonly policy: PolicySource
  readonly registry: CapabilityRegistry
  readonly clock: Clock
  readonly storage: Pick<Storage, 'limits'>
}

/** Every limit that holds for an agent, and how much of it is used now. */
export async function limitsOf(deps: LimitDeps, agent: string): Promise<Used[]> {
  const policy = deps.policy.current()
  const limits = new Map(
    deps.registry
      .list()
      .flatMap((capability) => policy.limitsFor(agent, capability.name))
      .map((limit) => [`${limit.match} ${limit.window}`, limit]),
  )
  const nowMs = deps.clock.now()
  return Promise.all(
    [...limits.values()].map(async (limit) => ({
      match: limit.match,
      limit: limit.limit,
      window: limit.window,
      used: await deps.storage.limits.used(limitKey(agent, limit), nowMs),
    })),
  )
}
