import { expect, test } from 'vitest'
import { mergeFiles } from './merge-files.ts'

const digestOf = (text: string) => `#${text}`
const digests = (texts: Record<string, string>) =>
  Object.fromEntries(Object.entries(texts).map(([file, text]) => [file, digestOf(text)]))

const merge = (
  base: Record<string, string>,
  own: Record<string, string>,
  shared: Record<string, string>,
  unknown: readonly string[] = [],
) => {
  const { changes, ...rest } = mergeFiles({ base: digests(base), own, shared, unknown, digestOf })
  return { ...rest, changes: Object.fromEntries(changes) }
}

test('what one side changed, added or removed is what both have', () => {
  expect(
    merge(
      { same: '1', mine: '1', theirs: '1', iRemoved: '1', theyRemoved: '1' },
      { same: '1', mine: '2', theirs: '1', theyRemoved: '1', iAdded: '1' },
      { same: '1', mine: '1', theirs: '2', iRemoved: '1', theyAdded: '1' },
    ),
  ).toEqual({
    merged: { same: '1', mine: '2', theirs: '2', iAdded: '1', theyAdded: '1' },
    changes: { theirs: '2', theyRemoved: null, theyAdded: '1' },
    overruled: [],
  })
})

test('where both changed a file the shared text wins, and the file is named', () => {
  expect(merge({ a: '1', b: '1', c: '1' }, { a: '2', b: '2' }, { a: '3', c: '3' })).toEqual({
    merged: { a: '3', c: '3' },
    changes: { a: '3', b: null, c: '3' },
    overruled: ['a', 'b', 'c'],
  })
  expect(merge({ a: '1' }, { a: '2' }, { a: '2' })).toEqual({
    merged: { a: '2' },
    changes: {},
    overruled: [],
  })
})

test('a file that nobody can decide by takes nothing away from the others', () => {
  expect(merge({ a: '1' }, {}, { a: '1' }, ['a'])).toEqual({
    merged: { a: '1' },
    changes: {},
    overruled: [],
  })
  expect(merge({ a: '1' }, {}, { a: '2' }, ['a'])).toMatchObject({ changes: { a: '2' } })
  expect(merge({}, {}, {}, ['a'])).toEqual({ merged: {}, changes: {}, overruled: [] })
})
