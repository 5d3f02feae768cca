import type { PolicyLayer, PolicyTier } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { compilePolicy } from './compile.ts'
import { findDeadRules } from './dead-rules.ts'
import type { Condition, Layer, LayerLimit, LayerRule, PolicyQuestion } from './types.ts'
import { parseWindow } from './window.ts'

// A second evaluator, written from the guide and not from the code: no index, no memory, no cleverness.

const scale = ['autonomous', 'approval_required', 'blocked']

const naiveMatches = (pattern: string, capability: string): boolean => {
  if (pattern === '*') return true
  if (!pattern.endsWith('.*')) return pattern === capability
  return capability.split('.')[0] === pattern.split('.')[0]
}

const naiveConditionMet = (rule: LayerRule, question: PolicyQuestion): boolean => {
  if (!rule.when) return true
  try {
    return rule.when.evaluate(question)
  } catch {
    return rule.tier === 'blocked' || rule.tier === 'approval_required'
  }
}

const naiveFirst = (layers: readonly Layer[], kind: PolicyLayer, question: PolicyQuestion) => {
  for (const layer of layers) {
    if (layer.layer !== kind) continue
    if (kind === 'agent' && layer.agent !== question.agent.name) continue
    for (const rule of layer.rules) {
      if (naiveMatches(rule.match, question.capability) && naiveConditionMet(rule, question))
        return rule
    }
  }
  return undefined
}

const naiveDecide = (layers: readonly Layer[], question: PolicyQuestion) => {
  const system = naiveFirst(layers, 'system', question)
  const organisation = naiveFirst(layers, 'organisation', question)
  const agent = naiveFirst(layers, 'agent', question)
  const deciding = agent ?? organisation ?? system
  if (!deciding) return { tier: 'blocked', rule: null, notify: false }
  const floors: LayerRule[] = []
  if (system?.floor && system !== deciding) floors.push(system)
  if (organisation?.floor && organisation !== deciding) floors.push(organisation)
  let level = scale.indexOf(deciding.tier)
  for (const floor of floors) level = Math.max(level, scale.indexOf(floor.tier))
  const tightened = level > scale.indexOf(deciding.tier)
  const named = tightened ? floors.find((floor) => scale.indexOf(floor.tier) === level) : deciding
  const notify = deciding.notify || floors.some((floor) => floor.notify)
  return { tier: scale[level], rule: named?.ref, notify }
}

/** Tries every truth of every condition on arguments. */
const naiveListed = (layers: readonly Layer[], question: PolicyQuestion): string => {
  const open = layers.flatMap((l) => l.rules.filter((rule) => rule.when?.readsArguments))
  const tierWith = (truths: number): string => {
    const assumed = layers.map((layer) => ({
      ...layer,
      rules: layer.rules.map((rule) => {
        const bit = open.indexOf(rule)
        if (bit < 0 || !rule.when) return rule
        return { ...rule, when: { ...rule.when, evaluate: () => (truths >> bit) % 2 === 1 } }
      }),
    }))
    return naiveDecide(assumed, question).tier ?? 'blocked'
  }
  const base = tierWith(0)
  if (base !== 'blocked') return base
  const tiers = Array.from({ length: 2 ** open.length }, (_, truths) => tierWith(truths))
  return tiers.includes('approval_required')
    ? 'approval_required'
    : tiers.includes('autonomous')
      ? 'autonomous'
      : 'blocked'
}

const naiveLimits = (layers: readonly Layer[], agent: string, capability: string): string[] => {
  const mine = layers.filter((l) => l.layer !== 'agent' || l.agent === agent)
  const fit = mine.flatMap((l) => l.limits.filter((limit) => naiveMatches(limit.match, capability)))
  const kept = fit.filter(
    (limit) =>
      limit.ref.layer !== 'system' ||
      !fit.some((other) => other.ref.layer !== 'system' && other.match === limit.match),
  )
  const numbers = kept.map((limit) => {
    const same = kept.filter((o) => o.match === limit.match && o.window_ms === limit.window_ms)
    return `${limit.match} ${limit.window_ms} ${Math.min(...same.map((o) => o.limit))}`
  })
  return [...new Set(numbers)].toSorted()
}

/** xorshift32: the same seed, the same million. */
const randomOf = (seed: number) => {
  let state = seed | 1
  return (below: number): number => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

type Random = ReturnType<typeof randomOf>
const pick = <T>(random: Random, items: readonly T[]): T => items[random(items.length)] as T

const capabilities = ['files.read', 'files.write', 'mail.send', 'files-2.read']
const patterns = [...capabilities, 'files.*', 'mail.*', '*', 'files-2.*']
const tiers: PolicyTier[] = ['autonomous', 'approval_required', 'blocked']

const conditionOf = (random: Random): Condition => {
  const wanted = random(3)
  const readsArguments = random(4) > 0
  return {
    source: `${readsArguments ? 'args.n' : 'session'} == ${wanted}`,
    readsArguments,
    evaluate: ({ args, session }) => {
      if (!readsArguments) return session.id === String(wanted)
      if (args['n'] === undefined) throw new Error('No such key: n')
      return args['n'] === wanted
    },
  }
}

const layerOf = (random: Random, layer: PolicyLayer, agent: string | null): Layer => {
  const file = agent ?? layer
  return {
    layer,
    file,
    agent,
    rules: Array.from({ length: random(6) }, (_, line) => {
      const match = pick(random, patterns)
      return {
        match,
        tier: pick(random, tiers),
        notify: random(4) === 0,
        floor: random(3) === 0,
        reason: null,
        when: random(2) === 0 ? null : conditionOf(random),
        ref: { layer, file, line, match },
      }
    }),
    limits: Array.from({ length: random(3) }, (_, line): LayerLimit => {
      const match = pick(random, patterns)
      const window = pick(random, ['30s', '1m', '60s'])
      const ref = { layer, file, line, match }
      return { match, limit: 1 + random(9), window, window_ms: parseWindow(window) ?? 0, ref }
    }),
  }
}

const layersOf = (random: Random): readonly Layer[] => [
  ...(random(5) ? [layerOf(random, 'system', null)] : []),
  ...(random(4) ? [layerOf(random, 'organisation', null)] : []),
  ...(random(3) ? [layerOf(random, 'agent', 'ana')] : []),
  ...(random(3) ? [layerOf(random, 'agent', 'ben')] : []),
]

const buildQuestion = (random: Random): PolicyQuestion => ({
  capability: pick(random, capabilities),
  agent: { name: pick(random, ['ana', 'ben', 'eve']), purpose: '', status: 'active' },
  session: { id: String(random(3)), transport: 'mcp', client: '' },
  args: random(5) === 0 ? {} : { n: random(3) },
  nowMs: 0,
})

const kindOf = { autonomous: 'allow', approval_required: 'ask', blocked: 'deny' }

const compare = (seed: number, policies: number, questions: number) => {
  const random = randomOf(seed)
  const differences: unknown[] = []
  for (let p = 0; p < policies && differences.length < 5; p++) {
    const layers = layersOf(random)
    const policy = compilePolicy('v', layers)
    for (let q = 0; q < questions; q++) {
      const question = buildQuestion(random)
      const naive = naiveDecide(layers, question)
      const decision = policy.decide(question)
      const same =
        decision.kind === kindOf[naive.tier as PolicyTier] &&
        decision.rule === naive.rule &&
        decision.notify === naive.notify
      if (!same) differences.push({ layers, question, naive, decision })
    }
  }
  return differences
}

// `node scripts/policy-differential.mjs` asks for the whole million.
const policies = process.env['GATEHOUSE_FULL'] ? 50_000 : 300

test('decides as an evaluator written from the guide alone does', () => {
  expect(compare(20_260_101, policies, 20)).toEqual([])
})

test('a rule that is called dead decides nothing', () => {
  const random = randomOf(23)
  let dead = 0
  for (let p = 0; p < 1_000; p++) {
    const layers = layersOf(random)
    const policy = compilePolicy('v', layers)
    const found = layers.flatMap((layer) => findDeadRules(layer, layers))
    dead += found.length
    const refs = new Set(found.map(({ rule }) => rule.ref))
    for (let q = 0; q < 40; q++) {
      const { rule } = policy.decide(buildQuestion(random))
      expect(rule !== null && refs.has(rule)).toBe(false)
    }
  }
  expect(dead).toBeGreaterThan(500)
})

test('traces to the decision that it makes', () => {
  const random = randomOf(11)
  for (let i = 0; i < 3_000; i++) {
    const policy = compilePolicy('v', layersOf(random))
    const question = buildQuestion(random)
    const { decision, steps } = policy.trace(question)
    expect(decision).toEqual(policy.decide(question))
    const named = steps.filter((step) => step.outcome === 'decided').map((step) => step.rule)
    expect(named).toEqual(decision.rule ? [decision.rule] : [])
  }
})

test('lists the tier that trying every truth of every condition gives', () => {
  const random = randomOf(5)
  for (let i = 0; i < 1_000; i++) {
    const layers = layersOf(random).filter((l) => l.agent !== 'ben')
    const question = { ...buildQuestion(random), args: {} }
    expect(compilePolicy('v', layers).listed(question)).toBe(naiveListed(layers, question))
  }
})

test('counts a call under the limits that the guide says', () => {
  const random = randomOf(3)
  for (let i = 0; i < 2_000; i++) {
    const layers = layersOf(random)
    const { agent, capability } = buildQuestion(random)
    const found = compilePolicy('v', layers).limitsFor(agent.name, capability)
    const told = found.map((limit) => `${limit.match} ${limit.window_ms} ${limit.limit}`)
    expect(told.toSorted()).toEqual(naiveLimits(layers, agent.name, capability))
  }
})
