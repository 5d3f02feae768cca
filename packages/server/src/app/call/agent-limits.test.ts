import type { PolicyLimit } from '@gatehouse/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compilePolicy } from '../../domain/policy/compile.ts'
import type { Layer } from '../../domain/policy/types.ts'
import { parseWindow } from '../../domain/policy/window.ts'
import { limitsFor } from './agent-limits.ts'

const layer = (kind: Layer['layer'], limits: readonly PolicyLimit[]): Layer => ({
  layer: kind,
  file: `${kind}.yaml`,
  agent: kind === 'agent' ? 'ana' : null,
  rules: [],
  limits: limits.map((limit, line) => ({
    ...limit,
    window_ms: parseWindow(limit.window) ?? 0,
    ref: { layer: kind, file: `${kind}.yaml`, line, match: limit.match },
  })),
})

const limits = fc.array(
  fc.record({
    match: fc.constantFrom('*', 'files.*', 'files.read', 'mail.*'),
    limit: fc.integer({ min: 1, max: 9 }),
    window: fc.constantFrom('60s', '1m', '1h'),
  }),
  { maxLength: 4 },
)

test('limits of an agent hold as those of its policy file do', () => {
  fc.assert(
    fc.property(limits, limits, limits, fc.constantFrom('files.read', 'mail.send'), (...given) => {
      const [system, organisation, own, capability] = given
      const shared = [layer('system', system), layer('organisation', organisation)]
      const inFile = compilePolicy('v', [...shared, layer('agent', own)])
      const told = (list: ReturnType<typeof limitsFor>) =>
        list.map(({ match, limit, window_ms }) => `${match} ${limit} ${window_ms}`).toSorted()
      const agent = { name: 'ana', limits: own }
      expect(told(limitsFor(compilePolicy('v', shared), agent, capability))).toEqual(
        told(inFile.limitsFor('ana', capability)),
      )
    }),
    { numRuns: 500 },
  )
})
