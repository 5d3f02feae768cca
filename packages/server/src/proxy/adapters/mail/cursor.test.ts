import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FolderState, formatCursor, parseCursor } from './cursor.ts'
import { formatUids, parseUids } from './uid-set.ts'

test('numbers are written as ranges, and read back', () => {
  expect(formatUids([3, 1, 2, 7, 9, 10])).toBe('1:3,7,9:10')
  expect(formatUids([])).toBe('')
  fc.assert(
    fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 500 })), (uids) => {
      expect([...parseUids(formatUids(uids))]).toEqual(uids.toSorted((a, b) => a - b))
    }),
  )
})

test('ten thousand messages are a short cursor', () => {
  const state: FolderState = {
    uidvalidity: '1',
    uidnext: 10_001,
    messages: 10_000,
    unseen: 3,
    modseq: '18446744073709551615',
    uids: new Set(Array.from({ length: 10_000 }, (_, n) => n + 1)),
    flags: null,
  }
  const text = formatCursor(new Map([['INBOX', state]]))
  expect(text.length).toBeLessThan(250)
  expect(parseCursor(text)).toEqual(new Map([['INBOX', state]]))
})

test('flags come back as they were; a cursor of another form is none', () => {
  const flags = new Map([['\\Seen', new Set([1, 2, 5])]])
  const state = { uidvalidity: '1', uidnext: 6, messages: 5, unseen: 0, modseq: null }
  const cursor = new Map([['Grün "x"', { ...state, uids: new Set([1, 2, 5]), flags }]])
  expect(parseCursor(formatCursor(cursor))).toEqual(cursor)
  expect(parseCursor('{"form":0,"folders":[]}')).toBeNull()
})
