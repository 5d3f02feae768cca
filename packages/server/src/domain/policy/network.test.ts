import { expect, test } from 'vitest'
import { compilePolicy } from './compile.ts'
import { coversHosts } from './network.ts'
import { ask, layer } from './testing.ts'
import type { Layer, LayerRule } from './types.ts'

type Hosts = Partial<LayerRule> & { readonly match: string }

const layerOf = (kind: Layer['layer'], rules: readonly Hosts[]): Layer =>
  layer(
    kind,
    rules.map((rule) => ({ tier: 'approval_required', ...rule })),
  )

const hostsWith = (organisation: readonly Hosts[], agent: readonly Hosts[]) =>
  compilePolicy('v', [layerOf('organisation', organisation), layerOf('agent', agent)]).decide(
    ask('process.run'),
  ).network

test('a program reaches the hosts of the rule that decides, and nothing without any', () => {
  expect(hostsWith([], [{ match: 'process.run', network: ['a.org:443'] }])).toEqual(['a.org:443'])
  expect(hostsWith([], [{ match: 'process.run' }])).toBeUndefined()
  expect(hostsWith([{ match: 'process.*', network: ['a.org:443'] }], [])).toEqual(['a.org:443'])
})

test('a lower layer replaces the hosts of a rule that is no floor', () => {
  const organisation = [{ match: 'process.*', network: ['a.org:443'] }]
  expect(hostsWith(organisation, [{ match: 'process.run', network: ['b.org:1'] }])).toEqual([
    'b.org:1',
  ])
})

test('a lower layer adds no host to the list of a floor', () => {
  const wanted = [{ match: 'process.run', network: ['api.a.org:443', 'a.org:443', 'b.org:443'] }]
  const under = (network?: readonly string[]) =>
    hostsWith([{ match: 'process.*', floor: true, ...(network ? { network } : {}) }], wanted)
  expect(under(['*.a.org:443'])).toEqual(['api.a.org:443'])
  expect(under(['a.org:443', 'c.org:443'])).toEqual(['a.org:443'])
  expect(under()).toBeUndefined()
})

test('a floor for everything speaks of the tier and leaves the hosts', () => {
  const agent = [{ match: 'process.run', network: ['a.org:443'] }]
  expect(hostsWith([{ match: '*', floor: true }], agent)).toEqual(['a.org:443'])
})

test.each([
  ['a.org:443', 'a.org:443', true],
  ['*.a.org:443', 'b.a.org:443', true],
  ['*.a.org:443', 'c.b.a.org:443', true],
  ['*.a.org:443', '*.b.a.org:443', true],
  ['*.a.org:443', 'a.org:443', false],
  ['*.a.org:443', 'evila.org:443', false],
  ['*.a.org:443', 'b.a.org:80', false],
  ['b.a.org:443', '*.a.org:443', false],
  ['[2001:db8::1]:443', '[2001:db8::1]:443', true],
])('%s covers %s: %s', (wide, narrow, expected) => {
  expect(coversHosts(wide, narrow)).toBe(expected)
})
