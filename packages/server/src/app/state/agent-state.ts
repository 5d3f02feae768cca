import { GatehouseError, stateValueBytesMax } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StateArea, StateFound, StateWrite } from '../../ports/capability.ts'
import type { StoredState } from '../../ports/state.ts'
import type { Stores } from '../../ports/storage.ts'
import type { Basics } from '../call/basics.ts'
import { type Call, roomAfterWait } from '../call/call.ts'
import {
  type Area,
  assertKey,
  dropValue,
  findValue,
  ownArea,
  putValue,
  readValue,
  scratchArea,
  sharedState,
} from './state-areas.ts'

type Deps = Pick<Basics, 'storage' | 'clock' | 'events'>

/** Together the values of one answer stay well below what an answer may hold. */
const valuesBytesMax = 4 * 1024 * 1024
/** How many values a search looks at before it answers with what it has. */
const searchedMax = 2_000
const otherNodesEveryMs = 2_000

const iso = (ms: number): string => new Date(ms).toISOString()

const found = (state: StoredState): StateFound => ({
  key: state.key,
  value: parseStored<unknown>(state.value_json ?? 'null', 'state.value_json'),
  version: state.version,
  updated_at: iso(state.updated_ms),
  updated_by: state.updated_by,
  expires_at: state.expires_ms === null ? null : iso(state.expires_ms),
})

const shape = (state: StoredState) => ({
  key: state.key,
  size_bytes: state.size_bytes,
  version: state.version,
  updated_at: iso(state.updated_ms),
  updated_by: state.updated_by,
  expires_at: state.expires_ms === null ? null : iso(state.expires_ms),
})

const matches = (value: unknown, where: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(where).every(
    ([name, wanted]) =>
      typeof value === 'object' &&
      value !== null &&
      Object.hasOwn(value, name) &&
      (value as Record<string, unknown>)[name] === wanted,
  )

/** The prefix of a listing is held to the rules of keys, but may be empty. */
const assertPrefix = (prefix: string): void => {
  if (prefix !== '') assertKey(`${prefix}.`)
}

/** The areas that a call reaches. Scratch values need a session to belong to. */
export function areaOf(call: Call, kind: 'own' | 'shared' | 'scratch'): Area {
  if (kind === 'own') return ownArea(call.agent.name)
  if (kind === 'shared') return sharedState
  const session_id = call.session?.id
  if (session_id === undefined)
    throw new GatehouseError('NoSession', { detail: 'scratch values live as long as a session' })
  return scratchArea(session_id)
}

const noValue = (key: string) => ({
  key,
  value: null,
  version: 0,
  updated_at: null,
  updated_by: null,
  expires_at: null,
})

/** An area as one call reaches it: as its agent, and no further than this area. */
export function stateOf(deps: Deps, call: Call, area: Area): StateArea {
  const by = `agent:${call.agent.name}`
  const tell = (state: StoredState) => {
    if (area.name !== 'shared') return
    const data = { key: state.key, version: state.version, updated_by: by }
    deps.events.publish({ type: 'shared.changed', agent: '', data })
  }
  const write = async (key: string, work: (tx: Stores) => Promise<StoredState>) => {
    assertKey(key)
    const state = await deps.storage.transaction((tx) => work(tx))
    tell(state)
    return state
  }

  return {
    async get(key) {
      assertKey(key)
      return found(await readValue(deps, area, key))
    },

    async list({ prefix, cursor, limit }) {
      assertPrefix(prefix)
      const range = { prefix, after: cursor ?? null, nowMs: deps.clock.now(), limit: limit + 1 }
      const rows = await deps.storage.state.list(area.name, range)
      const shown = rows.slice(0, limit)
      const usage = await deps.storage.state.usage(area.name)
      return {
        keys: shown.map(shape),
        total: usage.keys,
        size_bytes: usage.size_bytes,
        quota_bytes: area.bytesMax,
        truncated: rows.length > limit,
        next_cursor: rows.length > limit ? (shown.at(-1)?.key ?? null) : null,
      }
    },

    async query({ prefix, where, cursor, limit }) {
      assertPrefix(prefix)
      const entries: StateFound[] = []
      let [after, looked, bytes, more] = [cursor ?? null, 0, 0, true]
      const isFull = () =>
        entries.length >= limit || bytes > valuesBytesMax || looked >= searchedMax
      while (more && !isFull()) {
        const range = { prefix, after, nowMs: deps.clock.now(), limit: 50 }
        const rows = await deps.storage.state.list(area.name, range)
        more = rows.length === range.limit
        for (const row of rows) {
          if (isFull()) {
            more = true
            break
          }
          after = row.key
          looked += 1
          const entry = found(row)
          if (!matches(entry.value, where)) continue
          entries.push(entry)
          bytes += row.size_bytes
        }
      }
      return { entries, truncated: more, next_cursor: more ? after : null }
    },

    async history(key, limit) {
      assertKey(key)
      const past = await deps.storage.state.history(area.name, key, limit)
      if (past.length === 0) throw new GatehouseError('StateNotFound', { key })
      return {
        key,
        versions: past.map(({ version, value_json, deleted, updated_ms, updated_by }) => ({
          version,
          deleted,
          kept: value_json !== null,
          value:
            value_json === null ? null : parseStored<unknown>(value_json, 'state_past.value_json'),
          updated_at: iso(updated_ms),
          updated_by,
        })),
      }
    },

    async set(input: StateWrite) {
      const state = await write(input.key, (tx) => putValue(deps, tx, area, { ...input, by }))
      return shape(state)
    },

    async delete(key, expected_version) {
      const state = await write(key, (tx) =>
        dropValue(deps, tx, area, { key, by, expected_version }),
      )
      return { key, deleted: true, version: state.version }
    },

    async watch(key, after_version, timeoutMs, signal) {
      assertKey(key)
      // Values may be large, and many calls may wait: none keeps one meanwhile.
      const versionNow = async () => (await findValue(deps, area, key))?.version ?? 0
      const until = deps.clock.now() + timeoutMs
      const from = after_version ?? (await versionNow())
      for (;;) {
        const changed = new AbortController()
        using _listening = deps.events.subscribe((event) => {
          if (event.type === 'shared.changed' && event.data['key'] === key) changed.abort()
        })
        using _elsewhere = deps.storage.onForeignChange('state', () => changed.abort())
        const version = await versionNow()
        const leftMs = until - deps.clock.now()
        if (version !== from || leftMs <= 0 || signal.aborted) {
          await roomAfterWait(call, stateValueBytesMax, deps.clock, signal)
          const state = await findValue(deps, area, key)
          return {
            changed: (state?.version ?? 0) !== from,
            deleted: state === null,
            ...(state ? found(state) : noValue(key)),
          }
        }
        const waitMs = deps.storage.isShared ? Math.min(leftMs, otherNodesEveryMs) : leftMs
        await deps.clock.sleep(waitMs, AbortSignal.any([changed.signal, signal]))
      }
    },
  }
}
