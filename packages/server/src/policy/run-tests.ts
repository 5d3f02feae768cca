import type { PolicyProblem, PolicyTier } from '@gatehouse/contract'
import type { CompiledPolicy, Decision, PolicyAgent } from '../domain/policy/types.ts'
import type { ParsedFile, PlacedTest } from './parse-file.ts'

/** Noon of a Thursday: a test that names no time gives the same answer every day. */
const quietNoonMs = Date.UTC(2026, 0, 1, 12)

const tierOfKind = { allow: 'autonomous', ask: 'approval_required', deny: 'blocked' } as const

const because = ({ rule }: Decision): string =>
  rule ? `by ${rule.file}:${rule.line}, ${rule.match}` : 'since no rule matches'

export type AgentLookup = (name: string) => PolicyAgent | undefined

const outcome = (
  policy: CompiledPolicy,
  { test }: PlacedTest,
  own: string | null,
  agentOf: AgentLookup,
): { readonly tier: PolicyTier; readonly decision: Decision } => {
  // No agent can have the empty name, so no agent's own file speaks for a test that names none.
  const name = test.agent ?? own ?? ''
  const decision = policy.decide({
    capability: test.capability,
    agent: agentOf(name) ?? { name, purpose: '', status: 'active' },
    session: { id: '', transport: '', client: '' },
    args: test.args ?? {},
    nowMs: test.at === undefined ? quietNoonMs : Date.parse(test.at),
  })
  return { tier: tierOfKind[decision.kind], decision }
}

/** The tests of a file that the whole policy does not pass. */
export const failingTests = (
  policy: CompiledPolicy,
  { id, tests }: ParsedFile,
  agentOf: AgentLookup,
): readonly PolicyProblem[] =>
  tests.flatMap((placed): readonly PolicyProblem[] => {
    const { tier, decision } = outcome(policy, placed, id.agent, agentOf)
    if (tier === placed.test.expect) return []
    const { capability, expect } = placed.test
    const message = `test: ${capability} is expected to be ${expect}, but is ${tier} ${because(decision)}`
    return [{ file: id.file, ...placed.at, message, severity: 'error' }]
  })
