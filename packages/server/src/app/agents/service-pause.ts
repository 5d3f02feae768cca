import type { ServicePause } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { MetaStore } from '../../ports/storage.ts'

/** Under these keys stand who paused everything and why, and the agents that come back with it. */
const factsKey = 'service_pause'
const agentsKey = 'paused_with_all'

type PauseFacts = {
  readonly reason: string
  readonly paused_by: string
  readonly since: string
}

export async function pauseFacts(meta: MetaStore): Promise<PauseFacts | null> {
  return parseStored((await meta.get(factsKey)) ?? 'null', `meta.${factsKey}`)
}

export const setPauseFacts = (meta: MetaStore, facts: PauseFacts | null): Promise<void> =>
  meta.set(factsKey, JSON.stringify(facts))

export async function pausedWithAll(meta: MetaStore): Promise<readonly string[]> {
  return parseStored((await meta.get(agentsKey)) ?? '[]', `meta.${agentsKey}`)
}

export const setPausedWithAll = (meta: MetaStore, names: Iterable<string>): Promise<void> =>
  meta.set(agentsKey, JSON.stringify([...names]))

/** Whether the service is paused, and for whom. */
export async function servicePause(meta: MetaStore): Promise<ServicePause> {
  const facts = await pauseFacts(meta)
  const agents = [...(await pausedWithAll(meta))]
  return facts
    ? { paused: true, ...facts, agents }
    : { paused: agents.length > 0, reason: '', paused_by: null, since: null, agents }
}

/** An agent that a person pauses, resumes or revokes by name does not come back with the others. */
export async function forgetPausedWithAll(meta: MetaStore, name: string): Promise<void> {
  const names = await pausedWithAll(meta)
  if (names.includes(name))
    await setPausedWithAll(
      meta,
      names.filter((other) => other !== name),
    )
}

/** The status of an agent that begins now: while the service is paused it waits with the others. */
export async function beginningStatus(meta: MetaStore, name: string): Promise<'active' | 'paused'> {
  if ((await pauseFacts(meta)) === null) return 'active'
  await setPausedWithAll(meta, new Set([...(await pausedWithAll(meta)), name]))
  return 'paused'
}
