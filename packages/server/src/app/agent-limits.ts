import type { LimitKey } from '../ports/limits.ts'
import type { Storage } from '../ports/storage.ts'
import type { ListDeps } from './list-capabilities.ts'

/** The one form of a limit's key: agent, pattern and window. */
export const limitKey = (
  agent: string,
  {
    match,
    limit,
    window_ms,
  }: { readonly match: string; readonly limit: number; readonly window_ms: number },
): LimitKey => ({ key: `${agent}\u0000${match}\u0000${window_ms}`, limit, window_ms })

type Used = {
  readonly match: string
  readonly limit: number
  readonly window: string
  readonly used: number
}

/** Every limit that holds for an agent, and how much of it is used now. */
export async function limitsOf(
  deps: Pick<ListDeps, 'policy' | 'registry' | 'clock'> & {
    readonly storage: Pick<Storage, 'limits'>
  },
  agent: string,
): Promise<Used[]> {
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
