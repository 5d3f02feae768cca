import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PolicyQuestion } from '../domain/policy/types.ts'
import { compileCondition } from './cel.ts'

const value = fc.oneof(
  fc.constantFrom('a', 'ab', '/srv/x', '', null, true, false, 0, 1, 3, 3.5, -1),
  fc.constant({ s: 'a', n: 1 }),
  fc.constant(['a', 1]),
  fc.constant({ constructor: 'x' }),
)
const args = fc.dictionary(fc.constantFrom('s', 'n', 'm', 'constructor'), value, { maxKeys: 4 })

const path = fc.constantFrom('args.s', 'args.n', 'args.m.s', 'args["m"]["n"]', 'agent.name')
const literal = fc.constantFrom('"a"', '""', '1', '3.5', '-1', 'true', 'null')
const leaf = fc.oneof(
  fc
    .tuple(path, fc.constantFrom('==', '!=', '<', '<=', '>', '>='), literal)
    .map((p) => p.join(' ')),
  fc.tuple(literal, path).map(([l, p]) => `${l} == ${p}`),
  fc
    .tuple(path, fc.constantFrom('startsWith("a")', 'contains("")', 'matches("^a+$")'))
    .map((p) => p.join('.')),
  fc
    .tuple(path, fc.constantFrom('["a", "b"]', '[1, 3.5]', '["a", 1]', '[]'))
    .map((p) => p.join(' in ')),
  fc.constantFrom(
    'has(args.s)',
    'has(args.m.s)',
    'has(args.m.s.t)',
    'args.s',
    'args["n"]',
    'args.m.s',
  ),
)
const expression = fc.letrec<{ e: string }>((tie) => ({
  e: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc.tuple(tie('e'), fc.constantFrom('&&', '||'), tie('e')).map((p) => `(${p.join(' ')})`),
    tie('e').map((inner) => `!(${inner})`),
  ),
})).e

const outcome = (evaluate: () => boolean): boolean | 'error' => {
  try {
    return evaluate()
  } catch {
    return 'error'
  }
}

test('answers as the library does, or leaves the question to it', () => {
  let quick = 0
  const property = fc.property(expression, fc.array(args, { maxLength: 8 }), (source, calls) => {
    const compiled = compileCondition(source)
    if (compiled.kind === 'problem') return
    const condition = compiled.condition as typeof compiled.condition & {
      evaluateFully(question: PolicyQuestion): boolean
    }
    for (const call of calls) {
      const question: PolicyQuestion = {
        capability: 'files.read',
        agent: { name: 'a', purpose: '', status: 'active' },
        session: { id: '', transport: '', client: '' },
        args: call,
        nowMs: 0,
      }
      quick++
      const told = [source, JSON.stringify(call)]
      expect([...told, outcome(() => condition.evaluate(question))]).toEqual([
        ...told,
        outcome(() => condition.evaluateFully(question)),
      ])
    }
  })
  fc.assert(property, { numRuns: 3_000, seed: 1 })
  expect(quick).toBeGreaterThan(1_000)
})
