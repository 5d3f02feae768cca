import {
  type DeletedState,
  GatehouseError,
  type SetState,
  type StateKeys,
  type StateValue,
  sharedArea,
} from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredState } from '../../ports/state.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { actorText, type Op } from '../call/op.ts'
import {
  type Area,
  assertKey,
  dropValue,
  ownArea,
  putValue,
  readValue,
  sharedState,
} from './state-areas.ts'

type Deps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'events'>
type Named = { readonly agent: string }
type Keyed = Named & { readonly key: string }

/** The area that people mean: an agent's own by its name, or the shared one, which no agent can be called. */
async function areaOf(deps: Pick<Basics, 'storage'>, agent: string): Promise<Area> {
  if (agent === sharedArea) return sharedState
  if (!(await deps.storage.agents.find(agent))) throw new GatehouseError('AgentNotFound', { agent })
  return ownArea(agent)
}

const iso = (ms: number): string => new Date(ms).toISOString()

const shown = (agent: string, state: StoredState): StateValue => ({
  agent,
  key: state.key,
  value: parseStored<unknown>(state.value_json ?? 'null', 'state.value_json'),
  version: state.version,
  updated_at: iso(state.updated_ms),
})

export async function listState(
  deps: Deps,
  input: Named & { readonly prefix?: string; readonly after?: string; readonly limit: number },
): Promise<StateKeys> {
  const area = await areaOf(deps, input.agent)
  const rows = await deps.storage.state.list(area.name, {
    prefix: input.prefix ?? '',
    after: input.after ?? null,
    nowMs: deps.clock.now(),
    limit: input.limit,
  })
  const usage = await deps.storage.state.usage(area.name)
  return {
    agent: input.agent,
    total: usage.keys,
    size_bytes: usage.size_bytes,
    quota_bytes: area.bytesMax,
    keys: rows.map(({ key, size_bytes, version, updated_ms }) => ({
      key,
      size_bytes,
      version,
      updated_at: iso(updated_ms),
    })),
  }
}

/** A text that could never be a key is not found either: a reader learns nothing from the difference. */
const assertFindable = (key: string): void => {
  try {
    assertKey(key)
  } catch {
    throw new GatehouseError('StateNotFound', { key })
  }
}

export async function showState(deps: Deps, { agent, key }: Keyed): Promise<StateValue> {
  const area = await areaOf(deps, agent)
  assertFindable(key)
  return shown(agent, await readValue(deps, area, key))
}

const tell = (deps: Deps, area: Area, state: StoredState): void => {
  if (area !== sharedState) return
  const { key, version, updated_by } = state
  deps.events.publish({ type: 'shared.changed', agent: '', data: { key, version, updated_by } })
}

export async function changeState(
  op: Op,
  deps: Deps,
  { agent, key, ...change }: Keyed & SetState,
): Promise<StateValue> {
  const area = await areaOf(deps, agent)
  assertKey(key)
  const state = await deps.auditLog.transaction(async (tx) => {
    const by = actorText(op.actor)
    const next = await putValue(deps, tx, area, { key, by, ...change })
    const { version, size_bytes } = next
    const facts = { agent: ofAgent(agent), arguments: { area: agent, key, version, size_bytes } }
    tx.append(actDraft(op, 'state.set', facts))
    return next
  })
  tell(deps, area, state)
  return shown(agent, state)
}

export async function deleteState(
  op: Op,
  deps: Deps,
  { agent, key }: Keyed,
): Promise<DeletedState> {
  const area = await areaOf(deps, agent)
  assertFindable(key)
  const state = await deps.auditLog.transaction(async (tx) => {
    const gone = await dropValue(deps, tx, area, { key, by: actorText(op.actor) })
    const facts = { agent: ofAgent(agent), arguments: { area: agent, key, version: gone.version } }
    tx.append(actDraft(op, 'state.deleted', facts))
    return gone
  })
  tell(deps, area, state)
  return { agent, key, deleted: true }
}

const ofAgent = (area: string): string => (area === sharedArea ? '' : area)
