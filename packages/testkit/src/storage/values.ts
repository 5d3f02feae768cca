import type { StoredAlert } from '@gatehouse/server/ports/alerts'
import {
  type StateStore,
  type StoredState,
  statePastBytesMax,
  statePastMax,
} from '@gatehouse/server/ports/state'
import type { Storage } from '@gatehouse/server/ports/storage'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, largest, newYear } from './samples.ts'

const stateOf = (key: string, over: Partial<StoredState> = {}): StoredState => ({
  area: 'agent:mailbot',
  key,
  value_json: '{"a":1}',
  size_bytes: 7,
  version: 1,
  updated_ms: newYear,
  updated_by: 'agent:mailbot',
  expires_ms: null,
  ...over,
})

const gone = (state: StoredState, over: Partial<StoredState> = {}): StoredState => ({
  ...state,
  value_json: null,
  size_bytes: 0,
  version: state.version + 1,
  expires_ms: null,
  ...over,
})

const replace = (storage: Storage, ...given: Parameters<StateStore['replace']>) =>
  storage.transaction((tx) => tx.state.replace(...given))

const put = (storage: Storage, ...states: StoredState[]) =>
  storage.transaction(async (tx) => {
    for (const state of states) await tx.state.replace(null, state, { past: true })
  })

const whole = { prefix: '', after: null, nowMs: newYear, limit: 100 }
const keysOf = async (storage: Storage, area: string, range: object = {}) =>
  (await storage.state.list(area, { ...whole, ...range })).map(({ key }) => key)

export const valueMusts = (open: Open): void => {
  describe('values', () => {
    test('come back exactly as they were stored, each from its own area', async () => {
      await using opened = await open()
      const mine = stateOf('Ünï/é\\%_*\u{1F600}', {
        value_json: JSON.stringify({ text: awkwardText }),
        updated_by: awkwardText,
        updated_ms: largest,
        version: largest,
        expires_ms: largest,
      })
      const theirs = stateOf(mine.key, { area: 'agent:other', value_json: '2' })
      await put(opened.storage, mine, theirs)
      const again = await opened.reopen()
      expect(await again.state.find('agent:mailbot', mine.key)).toEqual(mine)
      expect(await again.state.find('agent:other', mine.key)).toEqual(theirs)
      expect(await again.state.find('agent:mailbot', mine.key.toUpperCase())).toBeNull()
      expect(await again.state.find('shared', mine.key)).toBeNull()
    })

    test('are replaced only by who knows what stands there', async () => {
      await using opened = await open()
      const { storage } = opened
      const first = stateOf('k')
      expect(await replace(storage, null, first, { past: true })).toBe(true)
      expect(await replace(storage, null, stateOf('k'), { past: true })).toBe(false)
      const second = stateOf('k', { version: 2, value_json: '2', size_bytes: 1 })
      const won = await Promise.all(
        [1, 2, 3].map((n) =>
          replace(storage, first, { ...second, updated_by: `agent:${n}` }, { past: true }),
        ),
      )
      expect(won.filter(Boolean)).toHaveLength(1)
      expect(await storage.state.find('agent:mailbot', 'k')).toMatchObject({ version: 2 })
      expect(await storage.state.usage('agent:mailbot')).toEqual({ keys: 1, size_bytes: 1 })
    })

    test('are listed by key, byte by byte, from any place on', async () => {
      await using opened = await open()
      const { storage } = opened
      const keys = ['b', 'a/2', 'a/1', 'B', 'é', '\u{1F600}', '\uFFFD', 'a', 'a0']
      await put(storage, ...keys.map((key) => stateOf(key)), stateOf('x', { area: 'shared' }))
      const sorted = ['B', 'a', 'a/1', 'a/2', 'a0', 'b', 'é', '\uFFFD', '\u{1F600}']
      expect(await keysOf(storage, 'agent:mailbot')).toEqual(sorted)
      expect(await keysOf(storage, 'agent:mailbot', { prefix: 'a/' })).toEqual(['a/1', 'a/2'])
      expect(await keysOf(storage, 'agent:mailbot', { after: 'a/1', limit: 2 })).toEqual([
        'a/2',
        'a0',
      ])
      expect(await keysOf(storage, 'agent:mailbot', { prefix: 'a', after: 'a' })).toEqual([
        'a/1',
        'a/2',
        'a0',
      ])
    })

    test('that are deleted or expired are listed no more, and still stand for who asks by name', async () => {
      await using opened = await open()
      const { storage } = opened
      const short = stateOf('short', { expires_ms: newYear + 10 })
      const old = stateOf('old')
      await put(storage, short, old, stateOf('kept', { expires_ms: newYear + 20 }))
      await replace(storage, old, gone(old), { past: true })
      const area = 'agent:mailbot'
      expect(await keysOf(storage, area, { nowMs: newYear + 9 })).toEqual(['kept', 'short'])
      expect(await keysOf(storage, area, { nowMs: newYear + 10 })).toEqual(['kept'])
      expect(await storage.state.find(area, 'old')).toEqual(gone(old))
      expect(await storage.state.usage(area)).toEqual({ keys: 2, size_bytes: 14 })
      expect(await storage.state.listExpired(newYear + 9, 10)).toEqual([])
      expect(await storage.state.listExpired(newYear + 10, 10)).toEqual([short])
      expect(await storage.state.listExpired(newYear + 99, 1)).toHaveLength(1)
    })

    test('remember what they were: the newest, up to a size, and deletions', async () => {
      await using opened = await open()
      const { storage } = opened
      let current: StoredState | null = null
      for (let version = 1; version <= statePastMax + 3; version += 1) {
        const next = stateOf('k', { version, value_json: String(version) })
        await replace(storage, current, next, { past: true })
        current = next
      }
      const large = stateOf('k', {
        version: (current?.version ?? 0) + 1,
        value_json: `"${'x'.repeat(statePastBytesMax)}"`,
      })
      await replace(storage, current, large, { past: true })
      await replace(storage, large, gone(large), { past: true })
      const past = await (await opened.reopen()).state.history('agent:mailbot', 'k', 50)
      expect(past).toHaveLength(statePastMax)
      expect(past.slice(0, 3)).toMatchObject([
        { version: statePastMax + 5, deleted: true, value_json: null },
        { version: statePastMax + 4, deleted: false, value_json: null },
        { version: statePastMax + 3, deleted: false, value_json: String(statePastMax + 3) },
      ])
    })

    test('of an area are forgotten whole, and no others', async () => {
      await using opened = await open()
      const { storage } = opened
      for (const area of ['session:a', 'session:ab', 'shared'])
        await put(storage, stateOf('k', { area }))
      await storage.state.removeAreas('session:ab')
      expect(await storage.state.find('session:ab', 'k')).toBeNull()
      expect(await storage.state.history('session:ab', 'k', 5)).toEqual([])
      expect(await storage.state.usage('session:ab')).toEqual({ keys: 0, size_bytes: 0 })
      expect(await storage.state.usage('session:a')).toEqual({ keys: 1, size_bytes: 7 })
      await storage.state.removeAreas('session:')
      expect(await storage.state.find('session:a', 'k')).toBeNull()
      expect(await storage.state.find('shared', 'k')).not.toBeNull()
    })

    test('that were deleted long ago are forgotten, the others are not', async () => {
      await using opened = await open()
      const { storage } = opened
      const [old, late] = [stateOf('old'), stateOf('late')]
      await put(storage, old, late, stateOf('kept'))
      await replace(storage, old, gone(old, { updated_ms: newYear }), { past: true })
      await replace(storage, late, gone(late, { updated_ms: newYear + 10 }), { past: true })
      expect(await storage.state.removeDeleted(newYear + 10, 10)).toBe(1)
      expect(await storage.state.find('agent:mailbot', 'old')).toBeNull()
      expect(await storage.state.history('agent:mailbot', 'old', 5)).toEqual([])
      expect(await storage.state.find('agent:mailbot', 'late')).not.toBeNull()
    })
  })

  alertMusts(open)
}

const alertOf = (id: string, over: Partial<StoredAlert> = {}): StoredAlert => ({
  id,
  source: 'agent:mailbot',
  kind: 'agent',
  severity: 'warning',
  message: 'something',
  context_json: '{}',
  dedup_key: `key of ${id}`,
  status: 'open',
  created_ms: newYear,
  raised_ms: newYear,
  count: 1,
  acknowledged_ms: null,
  acknowledged_by: null,
  ...over,
})

const alertMusts = (open: Open): void => {
  describe('alerts', () => {
    test('come back exactly as they were stored', async () => {
      await using opened = await open()
      const alert = alertOf('alert-1', {
        message: awkwardText,
        context_json: JSON.stringify({ text: awkwardText }),
        status: 'acknowledged',
        acknowledged_by: awkwardText,
        acknowledged_ms: largest,
        count: largest,
      })
      await opened.storage.alerts.insert(alert)
      const { alerts } = await opened.reopen()
      expect(await alerts.find('alert-1')).toEqual(alert)
      expect(await alerts.find('alert-2')).toBeNull()
    })

    test('are one while they are open', async () => {
      await using opened = await open()
      const { alerts } = opened.storage
      const first = alertOf('alert-1', { dedup_key: 'same' })
      await alerts.insert(first)
      const twin = alertOf('alert-2', { dedup_key: 'same' })
      await expect(alerts.insert(twin)).rejects.toMatchObject({ type: 'Conflict' })
      expect(await alerts.findOpen('same')).toEqual(first)
      expect(await alerts.replace(first, { ...first, status: 'acknowledged' })).toBe(true)
      expect(await alerts.findOpen('same')).toBeNull()
      await alerts.insert(twin)
      expect((await alerts.findOpen('same'))?.id).toBe('alert-2')
    })

    test('are found until they are resolved, the newest first', async () => {
      await using opened = await open()
      const { alerts } = opened.storage
      const seen = alertOf('alert-1', { dedup_key: 'same', status: 'acknowledged' })
      const later = alertOf('alert-2', { dedup_key: 'same', created_ms: seen.created_ms + 1 })
      await alerts.insert(alertOf('alert-0', { dedup_key: 'same', status: 'resolved' }))
      expect(await alerts.findUnresolved('same')).toBeNull()
      await alerts.insert(seen)
      expect(await alerts.findUnresolved('same')).toEqual(seen)
      await alerts.insert(later)
      expect(await alerts.findUnresolved('same')).toEqual(later)
      await alerts.replace(later, { ...later, status: 'resolved' })
      expect(await alerts.findUnresolved('same')).toEqual(seen)
      expect(await alerts.findUnresolved('other')).toBeNull()
      for (const dedup_key of ['sam', 'samf', 'samea'])
        await alerts.insert(alertOf(`alert-${dedup_key}`, { dedup_key }))
      expect((await alerts.unresolvedKeys('same')).toSorted()).toEqual(['same', 'samea'])
    })

    test('are changed only by who knows how they stand', async () => {
      await using opened = await open()
      const { alerts } = opened.storage
      const alert = alertOf('alert-1')
      await alerts.insert(alert)
      expect(await alerts.replace(alert, { ...alert, count: 2 })).toBe(true)
      expect(await alerts.replace(alert, { ...alert, status: 'resolved' })).toBe(false)
      expect(await alerts.find('alert-1')).toMatchObject({ count: 2, status: 'open' })
    })

    test('are listed newest first, by status and source, with the total', async () => {
      await using opened = await open()
      const { alerts } = opened.storage
      await alerts.insert(alertOf('alert-1', { created_ms: newYear + 2 }))
      await alerts.insert(alertOf('alert-2', { source: 'system' }))
      await alerts.insert(alertOf('alert-3', { status: 'resolved', severity: 'info' }))
      const idsOf = async (filter: object) => {
        const page = await alerts.list({ limit: 10, offset: 0, ...filter })
        return [page.total, ...page.alerts.map(({ id }) => id)]
      }
      expect(await idsOf({})).toEqual([3, 'alert-1', 'alert-3', 'alert-2'])
      expect(await idsOf({ limit: 1, offset: 1 })).toEqual([3, 'alert-3'])
      expect(await idsOf({ status: 'open' })).toEqual([2, 'alert-1', 'alert-2'])
      expect(await idsOf({ source: 'system' })).toEqual([1, 'alert-2'])
      expect(await idsOf({ since_ms: newYear + 2, until_ms: newYear + 2 })).toEqual([1, 'alert-1'])
      expect(await idsOf({ severity: 'info' })).toEqual([1, 'alert-3'])
      expect([await alerts.countOpen(), await alerts.countOpen('system')]).toEqual([2, 1])
    })
  })
}
