import { expect, test } from 'vitest'
import { namedCall } from './named-call.ts'

const call = (args: unknown, at?: string) => ({
  capability: 'tools.call',
  arguments: args,
  ...(at === undefined ? {} : { unreadable: [{ at, detail: 'is no number' }] }),
})

test('a call of tools.call is the call that it names, in either form of the name', () => {
  const args = { path: 'a' }
  for (const name of ['filesystem.read', 'filesystem__read'])
    expect(namedCall(call({ name, arguments: args }))).toEqual({
      capability: 'filesystem.read',
      arguments: args,
    })
  expect(namedCall(call({ name: 'system.time' }))).toEqual({
    capability: 'system.time',
    arguments: {},
  })
  const other = { capability: 'system.time', arguments: { name: 'git.log' } }
  expect(namedCall(other)).toBe(other)
})

test('values that could not be read are told of where they stand in the named call', () => {
  const sent = call({ name: 'git.log', arguments: { limit: 1 } }, 'arguments.limit')
  expect(namedCall(sent)).toEqual({
    capability: 'git.log',
    arguments: { limit: 1 },
    unreadable: [{ at: 'limit', detail: 'is no number' }],
  })
  const outside = call({ name: 'git.log', arguments: {} }, 'name')
  expect(namedCall(outside)).toBe(outside)
})

test.each([
  [null],
  ['filesystem.read'],
  [[{ name: 'filesystem.read' }]],
  [{}],
  [{ name: '' }],
  [{ name: 'a'.repeat(257) }],
  [{ name: 7, arguments: {} }],
  [{ name: 'git.log', arguments: [] }],
  [{ name: 'git.log', arguments: null }],
  [{ name: 'git.log', arguments: {}, also: 1 }],
  [{ name: 'tools.call', arguments: { name: 'git.log' } }],
  [{ name: 'tools__call', arguments: {} }],
])('%j is left for the gate to refuse', (args) => {
  const sent = call(args)
  expect(namedCall(sent)).toBe(sent)
})
