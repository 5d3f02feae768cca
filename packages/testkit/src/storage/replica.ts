import type { FoundEntry, ReplicaEntry, ReplicaQuery } from '@gatehouse/server/ports/replica'
import type { Storage } from '@gatehouse/server/ports/storage'
import { describe, expect, test } from 'vitest'
import type { Open } from './opened.ts'
import { awkwardText, largest, newYear } from './samples.ts'

export const entryOf = (id: string, over: Partial<ReplicaEntry> = {}): ReplicaEntry => ({
  collection: 'INBOX',
  id,
  version: '1',
  sort_ms: newYear,
  until_ms: newYear,
  title: `Message ${id}`,
  from: 'ana@example.org',
  text: '',
  flags: [],
  keys: [],
  body: { id },
  size_bytes: 100,
  ...over,
})

const found = ({ text, ...entry }: ReplicaEntry): FoundEntry => entry
const put = ({ replica }: Pick<Storage, 'replica'>, entries: readonly ReplicaEntry[], run = 1) =>
  replica.apply(
    'mail',
    entries.map((entry) => ({ kind: 'put', entry })),
    run,
  )

const everything: ReplicaQuery = { order: 'newest_first', limit: 100, offset: 0 }

export const replicaMusts = (open: Open): void => {
  describe('the replica', () => {
    const idsFor = async ({ replica }: Storage, query: Partial<ReplicaQuery>) =>
      (await replica.query('mail', { ...everything, ...query })).entries.map(({ id }) => id)

    test('gives back exactly what was put, by place and by key', async () => {
      await using opened = await open()
      const entry = entryOf(awkwardText, {
        collection: awkwardText,
        version: awkwardText,
        title: awkwardText,
        from: awkwardText,
        text: awkwardText,
        flags: ['unread', 'a b%_'],
        keys: [awkwardText, '<m-1@example.org>'],
        body: { deep: [{ text: awkwardText, none: null, n: 1.5 }] },
        size_bytes: largest,
        sort_ms: -1,
      })
      await put(opened.storage, [entryOf('m-1'), entry])
      const { replica } = await opened.reopen()
      const { collection, id } = entry
      expect(await replica.find('mail', { collection, id })).toEqual(found(entry))
      expect(await replica.find('mail', { collection: 'inbox', id: 'm-1' })).toBeNull()
      expect(await replica.find('other', { collection, id })).toBeNull()
      for (const key of [id, '<m-1@example.org>'])
        expect(await replica.findByKey('mail', key)).toEqual([found(entry)])
      expect(await replica.findByKey('other', id)).toEqual([])
      expect((await replica.findByKey('mail', 'm-1')).map((e) => e.id)).toEqual(['m-1'])
    })

    test('finds words whatever their case and accents, in order of quotes, in the part asked for', async () => {
      await using opened = await open()
      const { storage } = opened
      await put(storage, [
        entryOf('a', {
          title: 'Quarterly report',
          from: 'Ana Ünal <ana.unal@example.org>',
          text: 'The numbers of the third quarter, see café O’Brien',
          sort_ms: newYear + 3,
        }),
        entryOf('b', {
          title: 'Lunch at the café',
          from: 'ben@example.net',
          text: 'A report on quarters. 日本語のテキスト',
          sort_ms: newYear + 2,
        }),
        entryOf('c', {
          title: 'x',
          from: 'c@example.org',
          text: 'AND OR NOT ( " * : ^',
          sort_ms: 1,
        }),
      ])
      expect(await idsFor(storage, { words: 'REPORT' })).toEqual(['a', 'b'])
      expect(await idsFor(storage, { words: 'cafe' })).toEqual(['a', 'b'])
      expect(await idsFor(storage, { words: 'quarter' })).toEqual(['a', 'b'])
      expect(await idsFor(storage, { words: '"quarter"' })).toEqual(['a'])
      expect(await idsFor(storage, { words: 'quart rep lunch' })).toEqual(['b'])
      expect(await idsFor(storage, { words: '"third quarter"' })).toEqual(['a'])
      expect(await idsFor(storage, { words: '"quarter third"' })).toEqual([])
      expect(await idsFor(storage, { words: '"report ana"' })).toEqual([])
      expect(await idsFor(storage, { words: '日本' })).toEqual(['b'])
      expect(await idsFor(storage, { words: '本日' })).toEqual([])
      expect(await idsFor(storage, { title: 'report' })).toEqual(['a'])
      expect(await idsFor(storage, { from: 'ana.unal@example.org' })).toEqual(['a'])
      expect(await idsFor(storage, { from: 'unal' })).toEqual(['a'])
      expect(await idsFor(storage, { from: 'report' })).toEqual([])
      expect(await idsFor(storage, { from: 'example', title: 'lunch' })).toEqual(['b'])
      expect(await idsFor(storage, { words: 'o’brien' })).toEqual(['a'])
    })

    test('takes nothing in a query for an operator, and finds nothing by what holds no word', async () => {
      await using opened = await open()
      const { storage } = opened
      await put(storage, [entryOf('a', { text: 'and or not near' }), entryOf('b')])
      for (const words of ['AND', 'not', 'a OR', "near('", '{title} : and'])
        expect(Array.isArray(await idsFor(storage, { words }))).toBe(true)
      expect(await idsFor(storage, { words: 'and OR not' })).toEqual(['a'])
      expect(await idsFor(storage, { words: "no' or 1=1 --" })).toEqual([])
      for (const words of ['"', '*', '( ) : ^', '" "', '\0'])
        expect(await idsFor(storage, { words })).toEqual([])
      expect(await idsFor(storage, { words: '  ' })).toEqual(['a', 'b'])
    })

    test('filters by place, flags and times, and pages in an order that stands', async () => {
      await using opened = await open()
      const { storage } = opened
      await put(storage, [
        entryOf('a', { sort_ms: 10, until_ms: 20, flags: ['unread'] }),
        entryOf('b', { sort_ms: 10, until_ms: 12, flags: ['unread-not', 'seen'] }),
        entryOf('c', { sort_ms: 30, until_ms: 30, collection: 'Archive' }),
        entryOf('d', { sort_ms: 5, until_ms: 40, flags: ['unread', 'flagged'] }),
      ])
      expect(await idsFor(storage, {})).toEqual(['c', 'a', 'b', 'd'])
      expect(await idsFor(storage, { order: 'oldest_first' })).toEqual(['d', 'a', 'b', 'c'])
      expect(await idsFor(storage, { with_flags: ['unread'] })).toEqual(['a', 'd'])
      expect(await idsFor(storage, { with_flags: ['unread', 'flagged'] })).toEqual(['d'])
      expect(await idsFor(storage, { without_flags: ['unread', 'seen'] })).toEqual(['c'])
      expect(await idsFor(storage, { with_flags: ['UNREAD'] })).toEqual([])
      expect(await idsFor(storage, { collections: ['INBOX'] })).toEqual(['a', 'b', 'd'])
      expect(await idsFor(storage, { collections: [] })).toEqual([])
      expect(await idsFor(storage, { since_ms: 13, before_ms: 30 })).toEqual(['a', 'd'])
      expect(await idsFor(storage, { since_ms: 12, before_ms: 10 })).toEqual(['d'])
      const { entries, total } = await storage.replica.query('mail', {
        ...everything,
        ...{ limit: 2, offset: 1 },
      })
      expect(entries.map(({ id }) => id)).toEqual(['a', 'b'])
      expect(total).toBe(4)
      expect(await storage.replica.collections('mail', 'unread')).toEqual([
        { collection: 'Archive', entries: 1, with_flag: 0 },
        { collection: 'INBOX', entries: 3, with_flag: 2 },
      ])
    })

    test('forgets what is replaced, removed or older than a run, in what is found too', async () => {
      await using opened = await open()
      const { storage } = opened
      const { replica } = storage
      await put(storage, [entryOf('a', { text: 'first', keys: ['k'] }), entryOf('b'), entryOf('c')])
      await put(storage, [entryOf('x', { collection: 'Old' }), entryOf('y', { collection: 'Old' })])
      await put(storage, [entryOf('a', { text: 'second', keys: ['l'] })], 2)
      expect(await idsFor(storage, { words: 'first' })).toEqual([])
      expect(await idsFor(storage, { words: 'second' })).toEqual(['a'])
      expect(await replica.findByKey('mail', 'k')).toEqual([])
      expect(await replica.findByKey('mail', 'l')).toHaveLength(1)
      const gone = { kind: 'remove', key: { collection: 'INBOX', id: 'c' } } as const
      await replica.apply('mail', [gone, gone], 2)
      expect(Object.fromEntries(await replica.counts())).toEqual({ mail: 4 })
      expect(await replica.dropOlder('mail', ['Old'], 2, 1)).toBe(1)
      expect(await replica.dropOlder('mail', ['Old'], 2, 5)).toBe(1)
      expect(await replica.dropOlder('other', null, 9, 5)).toBe(0)
      expect(await idsFor(storage, { words: 'message' })).toEqual(['a', 'b'])
      expect(await replica.dropOlder('mail', null, 2, 5)).toBe(1)
      expect(await idsFor(storage, { words: 'message' })).toEqual(['a'])
      expect(Object.fromEntries(await replica.counts())).toEqual({ mail: 1 })
    })

    test('cuts what is too long, keeps one place for each, and services apart', async () => {
      await using opened = await open()
      const { storage } = opened
      const long = 'wörd '.repeat(120_000)
      await put(storage, [
        entryOf('a', { title: long, from: long, text: long, keys: ['k', 'k'], flags: ['f', 'f'] }),
      ])
      const entry = await storage.replica.find('mail', { collection: 'INBOX', id: 'a' })
      expect(entry?.title.length).toBe(1_000)
      expect(entry).toMatchObject({ keys: ['k'], flags: ['f'] })
      expect(await idsFor(storage, { words: '"word word"' })).toEqual(['a'])
      await storage.replica.apply('other', [{ kind: 'put', entry: entryOf('a') }], 1)
      expect(Object.fromEntries(await storage.replica.counts())).toEqual({ mail: 1, other: 1 })
      await expect(
        put(storage, [entryOf('b', { body: { text: 'x'.repeat(3_000_000) } })]),
      ).rejects.toMatchObject({ type: 'ValueTooLarge' })
    })

    test('of a transaction that fails is as it was', async () => {
      await using opened = await open()
      const { storage } = opened
      await put(storage, [entryOf('a')])
      const failing = storage.transaction(async (tx) => {
        await put(tx, [entryOf('b', { text: 'later' })], 2)
        throw new Error('no')
      })
      await expect(failing).rejects.toThrow('no')
      expect(await idsFor(storage, { words: 'later' })).toEqual([])
      expect(Object.fromEntries(await storage.replica.counts())).toEqual({ mail: 1 })
    })
  })
}
