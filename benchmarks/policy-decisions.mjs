// P5: one decision among 1,000 rules with conditions on arguments: spread over 50 capabilities, as a large
// policy is, and at worst, all for the capability asked for.
import { compilePolicy } from '../packages/server/dist/domain/policy/compile.js'
import { parsePolicyFile } from '../packages/server/dist/policy/parse-file.js'
import { knownNamesOf } from '../packages/server/dist/policy/unknown-names.js'
import { median } from './lib.mjs'

const rulesCount = 1_000
const decisions = 20_000

const capabilities = [
  'filesystem.read',
  ...Array.from({ length: 49 }, (_, i) => `group${i % 7}.action${i}`),
]

const compiledFor = (names) => {
  const rules = Array.from(
    { length: rulesCount - 1 },
    (_, i) =>
      `  - { match: ${names[i % names.length]}, when: 'args.path.startsWith("/never/${i}/")', tier: blocked }`,
  )
  const text = `version: 1\nrules:\n${rules.join('\n')}\n  - { match: filesystem.read, tier: autonomous }\n`
  /** @type {Parameters<typeof parsePolicyFile>[0]} */
  const id = { layer: 'organisation', file: 'organisation.yaml', agent: null }
  const read = parsePolicyFile(
    id,
    text,
    knownNamesOf(capabilities, () => ['path']),
  )
  if (read.kind !== 'ok') throw new Error(JSON.stringify(read.problems))
  return compilePolicy('bench', [read.parsed.layer])
}

const questions = Array.from({ length: 97 }, (_, i) => ({
  capability: 'filesystem.read',
  agent: { name: 'bench', purpose: '', status: 'active' },
  session: { id: '', transport: '', client: '' },
  args: Object.freeze({ path: `/srv/${i}/file` }),
  nowMs: Date.now(),
}))

const microseconds = (compiled, rounds) => {
  const samples = []
  // One round to warm up, which does not count.
  for (let round = 0; round <= rounds; round += 1) {
    const startedAt = performance.now()
    for (let i = 0; i < decisions; i += 1) {
      const { kind } = compiled.decide(questions[i % questions.length])
      if (kind !== 'allow') throw new Error(`decided ${kind}`)
    }
    if (round > 0) samples.push(((performance.now() - startedAt) * 1000) / decisions)
  }
  return median(samples)
}

export const policyDecisions = async ({ rounds }) => {
  const row = (what, value, bar) => ({ id: 'P5', what, value, yardstick: null, ratio: null, bar })
  return [
    row(
      'policy decision, 1,000 rules on arguments over 50 capabilities (µs)',
      microseconds(compiledFor(capabilities), rounds),
      '≤ 20 µs',
    ),
    row(
      'the same, all 1,000 for the capability asked for (µs)',
      microseconds(compiledFor(['filesystem.read']), rounds),
      '–',
    ),
  ]
}
