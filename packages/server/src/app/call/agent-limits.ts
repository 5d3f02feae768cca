import { limitKey } from '../../domain/limit-key.ts'
import { patternsOf } from '../../domain/policy/match.ts'
import type { CompiledPolicy, LayerLimit } from '../../domain/policy/types.ts'
import { parseWindow } from '../../domain/policy/window.ts'
import type { StoredAgent } from '../../ports/agents.ts'
import type { CapabilityRegistry } from '../../ports/capability.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LimitKey } from '../../ports/limits.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Storage } from '../../ports/storage.ts'

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
      ...limitKey(agent, limit.match, limit),
      match: limit.match,
      window: limit.window,
    }))
    byAgent.set(agent, keys)
  }
  return keys
}

/** An agent as its limits depend on it. */
export type LimitedAgent = Pick<StoredAgent, 'name' | 'limits'>

/**
 * The limits that a call of this agent counts under: those of policy, and its own as if they stood in its file.
 * A shipped one gives way to one of its own with the same pattern; of the same pattern and window the lower holds.
 */
export function limitsFor(
  policy: CompiledPolicy,
  { name, limits }: LimitedAgent,
  capability: string,
): readonly LayerLimit[] {
  const given = policy.limitsFor(name, capability)
  const patterns = patternsOf(capability)
  const own = limits.filter(({ match }) => patterns.includes(match))
  if (own.length === 0) return given
  const ownRef = { layer: 'agent', file: '', line: 0 } as const
  const kept = new Map<string, LayerLimit>()
  const all = [
    ...given.filter(
      ({ ref, match }) => ref.layer !== 'system' || !own.some((one) => one.match === match),
    ),
    ...own.map((one) => ({
      ...one,
      window_ms: parseWindow(one.window) ?? 0,
      ref: { ...ownRef, match: one.match },
    })),
  ]
  for (const limit of all) {
    const key = `${limit.match} ${limit.window_ms}`
    const other = kept.get(key)
    if (!other || limit.limit < other.limit) kept.set(key, limit)
  }
  return [...kept.values()]
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
export async function limitsOf(deps: LimitDeps, agent: LimitedAgent): Promise<Used[]> {
  const policy = deps.policy.current()
  const limits = new Map(
    deps.registry
      .list()
      .flatMap((capability) => limitsFor(policy, agent, capability.name))
      .map((limit) => [`${limit.match} ${limit.window}`, limit]),
  )
  const nowMs = deps.clock.now()
  return Promise.all(
    [...limits.values()].map(async (limit) => ({
      match: limit.match,
      limit: limit.limit,
      window: limit.window,
      used: await deps.storage.limits.used(limitKey(agent.name, limit.match, limit), nowMs),
    })),
  )
}
