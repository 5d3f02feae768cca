import { expect, test } from 'vitest'
import { merge } from './merge.ts'

const eventsOf = (...ids: readonly string[]) => ids.map((id) => ({ id }))

test('newer events stand before older ones, each once, and no more than are kept', () => {
  expect(merge(eventsOf('d', 'c'), eventsOf('c', 'b', 'a'), 3)).toEqual(eventsOf('d', 'c', 'b'))
})

test('an event that was heard twice is shown once, where it came last', () => {
  expect(merge(eventsOf('c', 'b', 'c', 'b'), eventsOf('a'), 5)).toEqual(eventsOf('c', 'b', 'a'))
})
