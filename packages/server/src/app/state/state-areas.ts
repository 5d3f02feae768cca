import { GatehouseError, stateValueBytesMax } from '@gatehouse/contract'
import type { StoredState } from '../../ports/state.ts'
import type { Stores } from '../../ports/storage.ts'
import type { Basics } from '../call/basics.ts'

const keyCharactersMax = 512
const keysMax = 100_000

/** Where values lie, and what holds there. */
export type Area = {
  readonly name: string
  readonly bytesMax: number
  /** Whether earlier values are kept. */
  readonly past: boolean
  /** How long a value is kept that says nothing of it itself. */
  readonly ttlMs: number | null
}

const ownBytesMax = 100 * 1024 * 1024
const scratchBytesMax = 10 * 1024 * 1024
const weekMs = 7 * 86_400_000

export const ownArea = (agent: string): Area => ({
  name: `agent:${agent}`,
  bytesMax: ownBytesMax,
  past: true,
  ttlMs: null,
})

export const sharedState: Area = {
  name: 'shared',
  bytesMax: ownBytesMax,
  past: true,
  ttlMs: null,
}

/** Gone with its session; the week is for sessions whose node died. */
export const scratchArea = (session_id: string): Area => ({
  name: `session:${session_id}`,
  bytesMax: scratchBytesMax,
  past: false,
  ttlMs: weekMs,
})

const keyFault = (key: string): string | null => {
  // No text of 512 characters is longer, and none that is needs to be counted.
  if (key.length > 2 * keyCharactersMax) return `it has more than ${keyCharactersMax} characters`
  const characters = Array.from(key).length
  if (characters === 0) return 'it is empty'
  if (characters > keyCharactersMax)
    return `it has ${characters} characters, more than ${keyCharactersMax}`
  if (/[\p{Cc}\p{Cs}]/u.test(key)) return 'it holds a control character or half a character'
  if (key === '.' || key === '..') return 'no address could name it'
  return null
}

/** Keys are opaque texts: `../x` is a key like any other, and never a path. */
export function assertKey(key: string): void {
  const detail = keyFault(key)
  if (detail !== null) throw new GatehouseError('InvalidKey', { detail })
}

type Reading = Pick<Basics, 'clock'> & { readonly storage: Pick<Stores, 'state'> }

const isThere = (state: StoredState | null, nowMs: number): boolean =>
  state !== null &&
  state.value_json !== null &&
  (state.expires_ms === null || state.expires_ms > nowMs)

/** Value under a key, or null: a value that expired is not there, though its row still stands. */
export async function findValue(
  deps: Reading,
  area: Area,
  key: string,
): Promise<StoredState | null> {
  const state = await deps.storage.state.find(area.name, key)
  return isThere(state, deps.clock.now()) ? state : null
}

export async function readValue(deps: Reading, area: Area, key: string): Promise<StoredState> {
  const state = await findValue(deps, area, key)
  if (!state) throw new GatehouseError('StateNotFound', { key })
  return state
}

/** Version 0 is that of a key without a value: never written, deleted or expired. */
const historyOf = (state: StoredState | null, version: number): string => {
  if (!state) return 'it was never set'
  const { updated_by } = state
  const at = new Date(state.updated_ms).toISOString()
  if (version > 0) return `${updated_by} set it at ${at}`
  // Upkeep deletes in the name of the system what has expired; until then the value stands.
  const expired = state.value_json !== null || updated_by === 'system'
  return expired ? 'its value has expired' : `${updated_by} deleted it at ${at}`
}

const conflict = (key: string, expected: number, state: StoredState | null, version: number) =>
  new GatehouseError('VersionConflict', {
    key,
    expected,
    version,
    history: historyOf(state, version),
  })

type Change = {
  readonly key: string
  readonly expected_version?: number | undefined
  readonly by: string
}

type Place = Pick<Stores, 'state'>

/** Value under a key, once it is the version that the caller expects: 0 where there is none. */
async function expect(
  tx: Place,
  area: Area,
  { key, expected_version }: Change,
  nowMs: number,
): Promise<{ readonly row: StoredState | null; readonly there: boolean }> {
  const row = await tx.state.find(area.name, key)
  const there = isThere(row, nowMs)
  const version = there && row ? row.version : 0
  if (expected_version !== undefined && expected_version !== version)
    throw conflict(key, expected_version, row, version)
  return { row, there }
}

async function assertRoom(
  tx: Place,
  area: Area,
  before: StoredState | null,
  size_bytes: number,
): Promise<void> {
  const { keys, size_bytes: used } = await tx.state.usage(area.name)
  const total = used + size_bytes - (before?.size_bytes ?? 0)
  if (total > area.bytesMax && size_bytes > (before?.size_bytes ?? 0))
    throw new GatehouseError('StateQuotaExceeded', {
      size_bytes: total,
      limit_bytes: area.bytesMax,
    })
  if (keys >= keysMax && (before?.value_json ?? null) === null)
    throw new GatehouseError('QuotaExceeded', { limit: keysMax, what: 'keys' })
}

type Writing = Pick<Basics, 'clock'>

/** Stores a value as the next version of its key, inside a transaction. */
export async function putValue(
  deps: Writing,
  tx: Place,
  area: Area,
  change: Change & { readonly value: unknown; readonly ttl_seconds?: number | undefined },
): Promise<StoredState> {
  const { key, value, ttl_seconds, by } = change
  const value_json = JSON.stringify(value)
  const size_bytes = Buffer.byteLength(value_json)
  if (size_bytes > stateValueBytesMax)
    throw new GatehouseError('ValueTooLarge', { size_bytes, limit_bytes: stateValueBytesMax })
  const nowMs = deps.clock.now()
  const { row } = await expect(tx, area, change, nowMs)
  await assertRoom(tx, area, row, size_bytes)
  const ttlMs = ttl_seconds === undefined ? area.ttlMs : ttl_seconds * 1000
  const next: StoredState = {
    area: area.name,
    key,
    value_json,
    size_bytes,
    version: (row?.version ?? 0) + 1,
    updated_ms: deps.clock.wall(),
    updated_by: by,
    expires_ms: ttlMs === null ? null : nowMs + ttlMs,
  }
  if (!(await tx.state.replace(row, next, { past: area.past })))
    throw conflict(key, row?.version ?? 0, await tx.state.find(area.name, key), next.version)
  return next
}

/** Deletes a value. Its row stays for a week, so that no later value has a version that was there before. */
export async function dropValue(
  deps: Writing,
  tx: Place,
  area: Area,
  change: Change,
): Promise<StoredState> {
  const { row, there } = await expect(tx, area, change, deps.clock.now())
  if (!row || !there) throw new GatehouseError('StateNotFound', { key: change.key })
  const next = goneValue(row, deps.clock.wall(), change.by)
  if (!(await tx.state.replace(row, next, { past: area.past })))
    throw conflict(change.key, row.version, row, row.version)
  return next
}

export const goneValue = (row: StoredState, updated_ms: number, by: string): StoredState => ({
  ...row,
  value_json: null,
  size_bytes: 0,
  version: row.version + 1,
  updated_ms,
  updated_by: by,
  expires_ms: null,
})
