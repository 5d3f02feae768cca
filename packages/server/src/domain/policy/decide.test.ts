import type { PolicyTier } from '@gatehouse/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compilePolicy } from './compile.ts'
import { findDeadRules } from './dead-rules.ts'
import { covers, groupOf } from './match.ts'
import { ask, condition, layer } from './testing.ts'
import type { Layer } from './types.ts'
import { parseWindow } from './window.ts'

const never = condition('false')
const fails = condition('args.gone', {
  evaluate: () => {
    throw new Error('No such key: gone')
  },
})

const decideWith = (layers: readonly Layer[], capability = 'files.read') =>
  compilePolicy('v', layers).decide(ask(capability))

test('denies what no layer mentions', () => {
  expect(decideWith([layer('system', [{ match: 'mail.*', tier: 'autonomous' }])])).toEqual({
    kind: 'deny',
    rule: null,
    reason: null,
    notify: false,
  })
})

test('lets the first matching rule of the lowest layer decide', () => {
  const decision = decideWith([
    layer('system', [{ match: 'files.read', tier: 'blocked' }]),
    layer('organisation', [{ match: '*', tier: 'approval_required' }]),
    layer('agent', [
      { match: 'files.read', tier: 'blocked', when: never },
      { match: 'files.*', tier: 'autonomous', reason: 'reads are fine' },
      { match: '*', tier: 'blocked' },
    ]),
  ])
  expect(decision).toMatchObject({ kind: 'allow', reason: 'reads are fine', rule: { line: 2 } })
})

test('names the floor that tightened, and notifies for a floor that holds', () => {
  const agent = layer('agent', [{ match: '*', tier: 'autonomous' }])
  const org = (tier: PolicyTier) =>
    layer('organisation', [
      { match: 'files.*', tier, floor: true, notify: true, reason: 'house rule' },
    ])
  expect(decideWith([org('blocked'), agent])).toMatchObject({
    kind: 'deny',
    reason: 'house rule',
    notify: true,
    rule: { layer: 'organisation' },
  })
  expect(decideWith([org('autonomous'), agent])).toMatchObject({
    kind: 'allow',
    notify: true,
    rule: { layer: 'agent' },
  })
})

test('a floor that is critical stays so under a lower rule that asks, and one that lets pass', () => {
  const floor = layer('organisation', [
    { match: 'files.*', tier: 'approval_required', floor: true, critical: true },
  ])
  for (const tier of ['approval_required', 'autonomous'] as const)
    expect(decideWith([floor, layer('agent', [{ match: '*', tier }])])).toMatchObject({
      kind: 'ask',
      critical: true,
    })
  const loose = layer('organisation', [
    { match: 'files.*', tier: 'approval_required', critical: true },
  ])
  const own = layer('agent', [{ match: '*', tier: 'approval_required' }])
  expect(decideWith([loose, own])).not.toHaveProperty('critical')
})

test('takes a condition that fails to hold only where that is the safe side', () => {
  const rules = (tier: PolicyTier) => [
    layer('organisation', [
      { match: '*', tier, when: fails },
      { match: '*', tier: 'approval_required' },
    ]),
  ]
  expect(decideWith(rules('blocked')).kind).toBe('deny')
  expect(decideWith(rules('autonomous')).kind).toBe('ask')
  const { steps } = compilePolicy('v', rules('blocked')).trace(ask('files.read'))
  expect(steps[0]).toMatchObject({
    outcome: 'condition_error',
    detail: 'args.gone: it cannot be evaluated (taken to hold)',
  })
})

const anyRule = fc.record({
  match: fc.constantFrom('files.read', 'files.*', '*', 'mail.*'),
  tier: fc.constantFrom<PolicyTier>('autonomous', 'approval_required', 'blocked'),
  floor: fc.boolean(),
  when: fc.constantFrom(null, null, never, fails, condition('true', { evaluate: () => true })),
})
const anyRules = fc.array(anyRule, { maxLength: 5 })
const strictness = { allow: 0, ask: 1, deny: 2 }

test('never loosens a matched floor of a higher layer, whatever a lower layer says', () => {
  const property = fc.property(anyRules, anyRules, anyRules, (system, organisation, agent) => {
    const floors = [system, organisation].map((rules, index) => {
      const higher = layer(index ? 'organisation' : 'system', rules)
      const alone = compilePolicy('v', [higher]).decide(ask('files.read'))
      const rule = higher.rules.find((one) => one.ref === alone.rule)
      return rule?.floor ? strictness[alone.kind] : 0
    })
    const whole = decideWith([
      layer('system', system),
      layer('organisation', organisation),
      layer('agent', agent),
    ])
    expect(strictness[whole.kind]).toBeGreaterThanOrEqual(Math.max(...floors))
  })
  fc.assert(property, { numRuns: 5_000, seed: 1 })
})

test('gives the same question the same answer, in every order of asking', () => {
  const property = fc.property(anyRules, anyRules, (organisation, agent) => {
    const layers = [layer('organisation', organisation), layer('agent', agent)]
    const policy = compilePolicy('v', layers)
    const names = ['files.read', 'mail.send', 'files.read', 'files.write']
    const once = names.map((name) => policy.decide(ask(name)))
    const again = names.toReversed().map((name) => compilePolicy('v', layers).decide(ask(name)))
    expect(again.toReversed()).toEqual(once)
  })
  fc.assert(property, { numRuns: 1_000, seed: 1 })
})

test('names rules that are never reached or that a floor overrides, and no others', () => {
  const org = layer('organisation', [
    { match: 'mail.*', tier: 'blocked', floor: true },
    { match: 'files.*', tier: 'approval_required', when: never },
    { match: 'files.*', tier: 'blocked', floor: true },
    { match: 'files.read', tier: 'autonomous' },
  ])
  const agent = layer('agent', [
    { match: 'mail.send', tier: 'autonomous' },
    { match: 'files.read', tier: 'autonomous' },
  ])
  const told = (one: Layer, above: readonly Layer[]) =>
    findDeadRules(one, above).map((dead) => [dead.rule.ref.line, dead.kind, dead.because.ref.line])
  expect(told(org, [])).toEqual([[4, 'never_reached', 3]])
  // files.read is left out: the rule before the floor may match first.
  expect(told(agent, [org])).toEqual([[1, 'overridden', 1]])
})

test('a floor overrides a rule with its own condition, and a failing condition leaves a stricter rule reached', () => {
  const org = layer('organisation', [
    { match: 'files.*', tier: 'blocked', floor: true, when: never },
    { match: 'mail.*', tier: 'autonomous', when: never },
    { match: 'mail.send', tier: 'blocked', when: never },
  ])
  const agent = layer('agent', [
    { match: 'files.read', tier: 'approval_required', when: never },
    { match: 'files.read', tier: 'autonomous' },
  ])
  const told = findDeadRules(agent, [org]).map(({ rule, kind }) => [rule.ref.line, kind])
  expect(told).toEqual([[1, 'overridden']])
  expect(findDeadRules(org, [])).toEqual([])
})

test('reads windows and patterns', () => {
  expect(['30s', '1m', '2h', '1d'].map(parseWindow)).toEqual([
    30_000, 60_000, 7_200_000, 86_400_000,
  ])
  expect(['0s', '1', 's', '1w', '01s'].map(parseWindow)).toEqual([null, null, null, null, null])
  expect(covers('files.*', 'files.read')).toBe(true)
  expect(covers('files.*', 'files-2.read')).toBe(false)
  expect(covers('files.read', 'files.*')).toBe(false)
  expect(covers('files.read', 'files.read')).toBe(true)
  expect(covers('files.*', '*')).toBe(false)
  expect(['*', 'files.*', 'files.read'].map((narrow) => covers('*', narrow))).toEqual([
    true,
    true,
    true,
  ])
  // The agent's view of itself is in no rule for everything.
  const own = ['approvals.wait', 'tools.search', 'agent.whoami', 'agent.policy']
  expect(own.map((narrow) => covers('*', narrow))).toEqual([false, false, false, true])
  expect(['files.read', 'files'].map(groupOf)).toEqual(['files', 'files'])
})

test('a rule for everything leaves an agent its own requests and its name', () => {
  const system = layer('system', [
    { match: 'approvals.wait', tier: 'autonomous' },
    { match: 'agent.whoami', tier: 'autonomous' },
    { match: 'agent.policy', tier: 'autonomous' },
  ])
  for (const tier of ['blocked', 'approval_required'] as const) {
    const org = layer('organisation', [{ match: '*', tier, floor: true }])
    const kinds = ['approvals.wait', 'agent.whoami', 'agent.policy'].map(
      (name) => decideWith([system, org], name).kind,
    )
    expect(kinds).toEqual(['allow', 'allow', tier === 'blocked' ? 'deny' : 'ask'])
  }
  // A rule that names them decides them, and one for everything above it does not hide it.
  const named = layer('organisation', [
    { match: '*', tier: 'autonomous' },
    { match: 'approvals.*', tier: 'blocked' },
  ])
  expect(decideWith([system, named], 'approvals.wait').kind).toBe('deny')
  expect(findDeadRules(named, [system])).toEqual([])
})
