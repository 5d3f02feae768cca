import { posix } from 'node:path'
import type { PolicyProblem, PolicyTest, PolicyTier } from '@gatehouse/contract'
import { tierOf } from '../domain/policy/tiers.ts'
import { decideTool } from '../domain/policy/tools.ts'
import type { CompiledPolicy, Decision, PathForm, PolicyQuestion } from '../domain/policy/types.ts'
import type { Capability } from '../ports/capability.ts'
import type { ParsedFile, PlacedTest } from './parse-file.ts'

/** Noon of a Thursday: a test that names no time gives the same answer every day. */
const quietNoonMs = Date.UTC(2026, 0, 1, 12)

const because = ({ rule }: Decision): string =>
  rule ? `by ${rule.file}:${rule.line}, ${rule.match}` : 'since no rule matches'

/** How calls of a capability read their arguments. */
export type ArgumentsOf = (
  capability: string,
) => Pick<Capability, 'argument_defaults' | 'paths'> | undefined

/** A test has no folders to look at, so a path leads where its text says, from a workspace of this name. */
const workspace = '/workspace'

const inForm = (value: unknown, form: PathForm): unknown => {
  if (Array.isArray(value)) return value.map((item) => inForm(item, form))
  if (typeof value !== 'string') return value
  const absolute = posix.resolve(workspace, value)
  if (form === 'absolute' || !absolute.startsWith(workspace)) return absolute
  return posix.relative(workspace, absolute) || '.'
}

const withPaths = (question: PolicyQuestion, names: readonly string[]): PolicyQuestion => ({
  ...question,
  as: (form) => {
    const paths = names.filter((name) => name in question.args)
    const told = paths.map((name) => [name, inForm(question.args[name], form)])
    return { ...question, args: { ...question.args, ...Object.fromEntries(told) } }
  },
})

/** Question about a call that nobody makes, of an agent that is active and has no purpose. */
export const buildTestQuestion = (
  { capability, args, at, agent }: Omit<PolicyTest, 'expect'>,
  argumentsOf: ArgumentsOf,
): PolicyQuestion => {
  const read = argumentsOf(capability)
  return withPaths(
    {
      capability,
      // No agent can have the empty name, so no agent's own file speaks for a test that names none.
      agent: { name: agent ?? '', purpose: '', status: 'active' },
      session: { id: '', transport: '', client: '' },
      args: { ...read?.argument_defaults, ...args },
      nowMs: at === undefined ? quietNoonMs : Date.parse(at),
    },
    read?.paths ?? [],
  )
}

const outcome = (
  policy: CompiledPolicy,
  { test }: PlacedTest,
  own: string | null,
  argumentsOf: ArgumentsOf,
): { readonly tier: PolicyTier; readonly decision: Decision } => {
  const question = buildTestQuestion(
    { ...test, agent: test.agent ?? own ?? undefined },
    argumentsOf,
  )
  const decision = decideTool(policy, question)
  return { tier: tierOf(decision), decision }
}

/** The tests of a file that the whole policy does not pass. */
export const failingTests = (
  policy: CompiledPolicy,
  { id, tests }: ParsedFile,
  argumentsOf: ArgumentsOf,
): readonly PolicyProblem[] =>
  tests.flatMap((placed): readonly PolicyProblem[] => {
    const { tier, decision } = outcome(policy, placed, id.agent, argumentsOf)
    if (tier === placed.test.expect) return []
    const { capability, expect } = placed.test
    const message = `test: ${capability} is expected to be ${expect}, but is ${tier} ${because(decision)}`
    return [{ file: id.file, ...placed.at, message, severity: 'error' }]
  })
