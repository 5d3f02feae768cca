import { expect, test } from 'vitest'
import type { Capability } from '../ports/capability.ts'
import { createRegistry } from './registry.ts'

const named = (name: string) =>
  ({ name, group: name.split('.')[0], definition_hash: name }) as unknown as Capability
const names = (registry: { list(): readonly Capability[] }) =>
  registry.list().map(({ name }) => name)

test('a group is replaced whole, and those who listen find the new one', () => {
  const registry = createRegistry([named('files.read'), named('files.list')])
  const seen: string[][] = []
  using _listening = registry.onChange(() => seen.push(names(registry)))
  registry.replaceGroup('tickets', [named('tickets.list'), named('tickets.close')])
  registry.replaceGroup('tickets', [named('tickets.open')])
  expect(registry.find('tickets.open')?.name).toBe('tickets.open')
  expect(registry.find('tickets.close')).toBeNull()
  expect(registry.similar('tickets.opne')).toEqual(['tickets.open'])
  registry.replaceGroup('tickets', [])
  expect(seen).toEqual([
    ['files.list', 'files.read', 'tickets.close', 'tickets.list'],
    ['files.list', 'files.read', 'tickets.open'],
    ['files.list', 'files.read'],
  ])
  expect(registry.names()).toEqual(['files.list', 'files.read'])
})

test('what does not fit changes nothing and tells nobody', () => {
  const registry = createRegistry([named('files.read')])
  const all = registry.names()
  let told = 0
  using _listening = registry.onChange(() => (told += 1))
  expect(() => registry.replaceGroup('tickets', [named('files.read')])).toThrow(
    'files.read is not of the group tickets',
  )
  expect(() => registry.replaceGroup('t', [named('t.a'), named('t.a')])).toThrow(
    'two capabilities are called t.a',
  )
  expect(() => createRegistry([named('files.read'), named('files.read')])).toThrow()
  expect(registry.names()).toBe(all)
  expect(told).toBe(0)
})

test('nobody is called like what every object has', () => {
  const registry = createRegistry([named('files.read')])
  for (const name of ['__proto__', 'constructor', 'toString'])
    expect(registry.find(name)).toBeNull()
})
