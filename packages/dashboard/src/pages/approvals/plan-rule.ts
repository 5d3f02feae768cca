import type { Approval, PolicyDraft, PolicyReplayLine } from '@gatehouse/contract'
import { api } from '../../api.ts'
import { approvalsText as text } from '../../messages/approvals.ts'
import { type ProposedRule, ruleLines, withRule } from './propose-rule.ts'

type Replay = Extract<PolicyReplayLine, { kind: 'result' }>

export type RulePlan =
  | { readonly kind: 'refused'; readonly why: string }
  | {
      readonly kind: 'ready'
      readonly file: string
      /** Of the file that the rule is written into; `none` where there is no file yet. */
      readonly version: string
      /** The whole file, and what is new in it. */
      readonly text: string
      readonly lines: readonly string[]
      readonly replay: Replay
    }

type Draft = Omit<Extract<RulePlan, { kind: 'ready' }>, 'kind' | 'replay'> & {
  /** Without the test, which would fail where something above the file overrides the rule. */
  readonly untested: string
}

/** The file with the rule in it, where policy asks about the call as it did. */
async function draftRule(rule: ProposedRule, args: Approval['arguments']): Promise<Draft | string> {
  const { agent, capability } = rule
  const call = { agent, capability, arguments: args }
  const [{ files }, { decision }] = await Promise.all([api.showPolicies(), api.testPolicy(call)])
  if (decision.critical) return text.ruleCritical
  if (decision.kind !== 'ask') return text.ruleNotNeeded
  const own = files.find((one) => one.agent === agent)
  const { file, version } = own ?? { file: `agents/${agent}.yaml`, version: 'none' }
  const network = decision.network ?? []
  const askedAtLine = own && decision.rule?.file === file ? decision.rule.line : null
  const texts = withRule(own?.text ?? null, rule, { network, askedAtLine })
  return texts === null
    ? text.ruleByHand(file)
    : { file, version, ...texts, lines: ruleLines(rule, network) }
}

async function replayWeek(draft: PolicyDraft, signal: AbortSignal): Promise<Replay> {
  for await (const line of api.replayPolicy({ draft, days: 7 })) {
    signal.throwIfAborted()
    const told = JSON.parse(line) as PolicyReplayLine
    if (told.kind === 'result') return told
  }
  throw new Error(text.ruleReplayEnded)
}

/** Works out the file with the rule and what it would change. Nothing is saved. */
export async function planRule(
  rule: ProposedRule,
  { arguments: args }: Approval,
  signal: AbortSignal,
): Promise<RulePlan> {
  const drafted = await draftRule(rule, args)
  if (typeof drafted === 'string') return { kind: 'refused', why: drafted }
  const { agent, capability } = rule
  const { untested, ...ready } = drafted
  const call = { agents: [agent], capabilities: [capability], arguments: args }
  const { results } = await api.simulatePolicy({ ...call, draft: { agent, text: untested } })
  const decision = results[0]?.decision
  if (decision?.kind !== 'allow') {
    const above = decision?.rule
    const why = above ? text.ruleOverridden(`${above.file}:${above.line}`) : text.ruleNotNeeded
    return { kind: 'refused', why }
  }
  return { kind: 'ready', ...ready, replay: await replayWeek({ agent, text: ready.text }, signal) }
}
