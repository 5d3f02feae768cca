import type { PolicyLayer, PolicyTier } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { compilePolicy } from './compile.ts'
import { findDeadRules } from './dead-rules.ts'
import { ask, condition, type Loose, layer } from './testing.ts'
import { decideTool, traceTool } from './tools.ts'
import { formatWindow, parseWindow } from './window.ts'

const toolsOf = (file: string, ...patterns: string[]) => ({
  tools: { patterns, ref: { layer: 'agent' as const, file, line: 2, match: 'tools' } },
})

test('a trace names each rule that speaks of the capability, what became of it, and what decided', () => {
  const fails = condition('args.gone', {
    evaluate: () => {
      throw new Error('No such key: gone')
    },
  })
  const explained = { ...fails, explain: () => 'gone is not given' }
  const holds = condition('args.here', { evaluate: () => true })
  const policy = compilePolicy('v', [
    layer('system', [{ match: 'files.*', tier: 'approval_required', floor: true }]),
    layer('organisation', [{ match: '*', tier: 'blocked' }]),
    layer('agent', [
      { match: 'files.read', tier: 'autonomous', when: condition('args.never') },
      { match: 'files.read', tier: 'autonomous', when: fails },
      { match: 'mail.*', tier: 'blocked' },
      { match: 'files.*', tier: 'autonomous', when: holds },
      { match: 'files.read', tier: 'autonomous' },
      { match: 'files.read', tier: 'blocked' },
    ]),
  ])
  const { steps, decision } = policy.trace(ask('files.read'))
  expect(decision).toMatchObject({ kind: 'ask' })
  expect(steps.map(({ rule, ...step }) => ({ at: `${rule.layer} ${rule.line}`, ...step }))).toEqual(
    [
      { at: 'agent 1', outcome: 'condition_false', detail: 'args.never' },
      {
        at: 'agent 2',
        outcome: 'condition_error',
        detail: 'args.gone: it cannot be evaluated (taken not to hold)',
      },
      { at: 'agent 4', outcome: 'matched', detail: 'args.here' },
      { at: 'agent 5', outcome: 'shadowed' },
      { at: 'agent 6', outcome: 'shadowed' },
      { at: 'organisation 1', outcome: 'matched' },
      { at: 'organisation 1', outcome: 'shadowed', detail: 'a lower layer decides' },
      { at: 'system 1', outcome: 'matched' },
      { at: 'system 1', outcome: 'floor' },
      { at: 'system 1', outcome: 'decided' },
    ],
  )
  const strict = compilePolicy('v', [
    layer('agent', [{ match: 'files.read', tier: 'blocked', when: explained }]),
  ])
  expect(strict.trace(ask('files.read')).steps[0]).toMatchObject({
    outcome: 'condition_error',
    detail: 'args.gone: gone is not given (taken to hold)',
  })
})

test('rules of an agent are for nobody else', () => {
  const policy = compilePolicy('v', [
    layer('system', [{ match: '*', tier: 'blocked' }]),
    layer('agent', [{ match: 'files.read', tier: 'autonomous' }]),
    layer('agent', [{ match: 'files.read', tier: 'approval_required' }], { agent: 'bea' }),
  ])
  const kindFor = (agent: string) => policy.decide(ask('files.read', agent)).kind
  expect(['ana', 'bea', 'cas'].map(kindFor)).toEqual(['allow', 'ask', 'deny'])
  // The same again, from what is remembered of the capability.
  expect(['ana', 'bea', 'cas'].map(kindFor)).toEqual(['allow', 'ask', 'deny'])
})

test('a decision depends on the arguments that a condition of the chain reads', () => {
  const reading = (...names: string[]) => condition('…', { reads: new Set(names) })
  const of = (...rules: Loose[]) => {
    const policy = compilePolicy('v', [layer('organisation', rules)])
    return (...names: string[]) => policy.dependsOn('ana', 'files.read', names)
  }
  const rule = { match: 'files.read', tier: 'autonomous' } as const
  const none = of(rule, { ...rule, when: reading('path') })
  expect(none('path')).toBe(false)
  const two = of({ ...rule, when: reading('path') }, { ...rule, when: reading('text') }, rule)
  expect([two('path'), two('text'), two('mode'), two('mode', 'text'), two()]).toEqual([
    true,
    true,
    false,
    true,
    false,
  ])
  expect(of({ ...rule, when: condition('…') })('anything')).toBe(true)
  const time = of({ ...rule, when: condition('now', { readsArguments: false }) })
  expect(time('anything')).toBe(false)
})

test('what the tools of a layer leave out is refused and not listed, whatever rules say', () => {
  const policy = compilePolicy('v', [
    layer('organisation', [{ match: '*', tier: 'autonomous' }], toolsOf('org.yaml', 'files.*')),
    layer('agent', [], toolsOf('ana.yaml', 'files.read', 'mail.*')),
  ])
  const left = (capability: string, agent = 'ana') =>
    policy.leftOutBy(agent, capability)?.ref.file ?? null
  expect(left('files.read')).toBe(null)
  expect(left('files.write')).toBe('ana.yaml')
  expect(left('mail.send')).toBe('org.yaml')
  expect([left('files.write', 'bea'), left('mail.send', 'bea')]).toEqual([null, 'org.yaml'])
  // Tools of the agent's own client are not offered here.
  expect(left('client.shell')).toBe(null)

  expect(decideTool(policy, ask('files.read'))).toMatchObject({ kind: 'allow' })
  const refused = {
    kind: 'deny',
    rule: { file: 'ana.yaml', line: 2 },
    reason: 'The tools of ana.yaml:2 leave it out',
    notify: false,
  }
  expect(decideTool(policy, ask('files.write'))).toMatchObject(refused)
  expect(traceTool(policy, ask('files.read')).decision).toMatchObject({ kind: 'allow' })
  expect(traceTool(policy, ask('files.write'))).toMatchObject({
    decision: refused,
    steps: [
      {
        rule: { file: 'ana.yaml' },
        outcome: 'decided',
        detail: 'leaves it out: files.read, mail.*',
      },
    ],
  })
  const listed = (capability: string) => policy.listed(ask(capability))
  expect(['files.read', 'files.write', 'mail.send'].map(listed)).toEqual([
    'autonomous',
    'blocked',
    'blocked',
  ])
})

test('a condition that fails without arguments lists a capability as that call would be decided', () => {
  const fails = condition('agent.gone', {
    readsArguments: false,
    evaluate: () => {
      throw new Error('No such key: gone')
    },
  })
  const listed = (tier: PolicyTier) =>
    compilePolicy('v', [
      layer('agent', [
        { match: 'files.read', tier, when: fails },
        { match: 'files.read', tier: 'approval_required' },
      ]),
    ]).listed(ask('files.read'))
  expect([listed('autonomous'), listed('blocked')]).toEqual(['approval_required', 'blocked'])
})

test('windows are written in the largest unit that fits them', () => {
  const written = [1_000, 90_000, 60_000, 5_400_000, 3_600_000, 86_400_000, 1_500].map(formatWindow)
  expect(written).toEqual(['1s', '90s', '1m', '90m', '1h', '24h', '2s'])
  expect(['1d', '999999s', '0s', '1000000s', '1w', '1h '].map(parseWindow)).toEqual([
    86_400_000,
    999_999_000,
    null,
    null,
    null,
    null,
  ])
})

test('only a floor that nothing comes before overrides what a lower layer says', () => {
  const dead = (above: readonly Loose[], rule: Loose, kind: PolicyLayer = 'organisation') =>
    findDeadRules(layer('agent', [rule]), [layer(kind, above)]).map(
      ({ kind: how, because }) => `${how} by ${because.ref.line}`,
    )
  const floor = (match: string) => ({ match, tier: 'blocked', floor: true }) as const
  const plain = (match: string) => ({ match, tier: 'autonomous' }) as const
  expect(dead([floor('files.*')], plain('files.read'))).toEqual(['overridden by 1'])
  expect(dead([plain('files.read'), floor('files.*')], plain('files.read'))).toEqual([])
  expect(dead([plain('mail.send'), floor('files.*')], plain('files.read'))).toEqual([
    'overridden by 2',
  ])
  expect(dead([plain('*'), floor('files.*')], plain('files.read'))).toEqual([])
  expect(dead([floor('*')], plain('*'))).toEqual(['overridden by 1'])
  expect(dead([plain('mail.send'), floor('*')], plain('files.read'))).toEqual([])
  expect(dead([floor('*')], plain('approvals.wait'))).toEqual([])
  // Layers below say nothing to those above.
  const [above] = [layer('agent', [floor('files.*')])]
  expect(findDeadRules(layer('system', [plain('files.read')]), [above])).toEqual([])
})

test('a rule after one that holds wherever it does is never reached', () => {
  const when = condition('args.a')
  const dead = (...rules: Loose[]) =>
    findDeadRules(layer('agent', rules), []).map(
      ({ rule, because, kind }) => `${rule.ref.line} ${kind} by ${because.ref.line}`,
    )
  const loose = { match: 'files.read', tier: 'autonomous' } as const
  const strict = { match: 'files.read', tier: 'blocked' } as const
  expect(dead(loose, { ...strict, when })).toEqual(['2 never_reached by 1'])
  expect(dead({ ...strict, when }, { ...loose, when })).toEqual(['2 never_reached by 1'])
  // Where the condition fails the strict one holds, and the loose one before it does not.
  expect(dead({ ...loose, when }, { ...strict, when })).toEqual([])
  expect(dead({ ...loose, when }, { ...loose, when })).toEqual(['2 never_reached by 1'])
  expect(dead({ ...strict, when }, strict)).toEqual([])
  expect(dead({ ...loose, match: '*' }, { ...loose, match: '*' })).toEqual(['2 never_reached by 1'])
  expect(dead({ ...loose, match: '*' }, { ...loose, match: 'approvals.wait' })).toEqual([])
})
