import type { Approval } from '@gatehouse/contract'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { approvalsText as text } from '../../messages/approvals.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { Code } from '../../ui/code.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Loaded } from '../../ui/states.tsx'
import { announce } from '../../ui/toasts.tsx'
import { Visible } from '../../ui/visible.tsx'
import { useEarlier } from './earlier.tsx'
import { planRule, type RulePlan } from './plan-rule.ts'
import { type ProposedRule, proposeRule, quoted } from './propose-rule.ts'

const wordsOf = ({ agent, capability, what, folder }: ProposedRule): string =>
  folder === null
    ? text.ruleExact(agent, capability, what)
    : text.ruleFolder(agent, capability, folder)

/** Calls of the last week that the rule would have changed, all of them. */
const Simulation = ({
  rule: { agent, capability },
  plan: { replay },
}: {
  readonly rule: ProposedRule
  readonly plan: Extract<RulePlan, { kind: 'ready' }>
}) => {
  const changes = replay.agents.flatMap((one) =>
    one.changes.map((change) => ({ ...change, agent: one.agent })),
  )
  const meant = changes.find(
    (one) => one.agent === agent && one.capability === capability && one.to === 'autonomous',
  )
  const others = changes.filter((one) => one !== meant)
  return (
    <>
      <p>{text.ruleReplay(agent, meant?.calls ?? 0, replay.calls)}</p>
      {others.map((one) => (
        <Notice key={`${one.agent} ${one.capability} ${one.to}`} tone="warn">
          <Visible text={text.ruleReplayOther(one.agent, one.capability, one.calls, one.to)} />
        </Notice>
      ))}
      {replay.cannot_say > 0 && (
        <p className="text-ink-soft">{text.ruleCannotSay(replay.cannot_say)}</p>
      )}
    </>
  )
}

const RuleDialog = ({
  rule,
  approval,
  onClose,
}: {
  readonly rule: ProposedRule
  readonly approval: Approval
  readonly onClose: () => void
}) => {
  const query = useQuery({
    // The key is no name of a route: news of the service do not start the replay anew.
    queryKey: [['rule', approval.id]],
    queryFn: ({ signal }) => planRule(rule, approval, signal),
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  })
  const plan = query.data
  const write = async () => {
    if (plan?.kind !== 'ready') return
    const { file, version, text: whole } = plan
    const saved = await api.saveAgentPolicy({ name: rule.agent, text: whole, if_match: version })
    announce(text.ruleWritten(file, saved.previous))
    await queryClient.invalidateQueries({ queryKey: ['showPolicies'] })
    onClose()
  }
  return (
    <FormDialog
      title={text.ruleTitle}
      submit={text.ruleSubmit}
      wide
      disabled={plan?.kind !== 'ready'}
      onSubmit={write}
      onClose={onClose}
    >
      <p className="font-medium [overflow-wrap:anywhere]">
        <Visible text={wordsOf(rule)} />
      </p>
      <Loaded query={query}>
        {(read) =>
          read.kind === 'refused' ? (
            <Notice tone="warn" role="status">
              <Visible text={read.why} />
            </Notice>
          ) : (
            <>
              <Simulation rule={rule} plan={read} />
              <p className="text-ink-soft">{text.ruleWhere(read.file)}</p>
              <Code text={read.lines.join('\n')} label={text.ruleWhere(read.file)} />
              <p className="text-ink-soft">{text.ruleCaution}</p>
            </>
          )
        }
      </Loaded>
    </FormDialog>
  )
}

/** The rule in words, unless it is written already. */
const Offer = ({
  rule,
  approval,
}: {
  readonly rule: ProposedRule
  readonly approval: Approval
}) => {
  const [isOpen, setOpen] = useState(false)
  const { data } = useRead('showPolicies')
  const own = data?.files.find((file) => file.agent === rule.agent)
  if (!data || own?.text.includes(quoted(rule.when))) return null
  return (
    <>
      <Notice>
        <p>
          <Visible text={text.ruleOffer(rule.approvals, wordsOf(rule))} />
        </p>
        <Button className="mt-2" onClick={() => setOpen(true)}>
          {text.ruleOpen}
        </Button>
      </Notice>
      {isOpen && <RuleDialog rule={rule} approval={approval} onClose={() => setOpen(false)} />}
    </>
  )
}

const Search = ({ approval }: { readonly approval: Approval }) => {
  const { agent, capability } = approval
  const earlier = useEarlier(approval)
  const rejected = useRead('listApprovals', { status: 'rejected', agent, capability, limit: 1 })
  if (!earlier.data || !rejected.data) return null
  const decided = [...earlier.data.approvals, ...rejected.data.approvals]
  const rule = proposeRule(approval, decided, earlier.dataUpdatedAt)
  return rule && <Offer rule={rule} approval={approval} />
}

/**
 * After the third approval of the same kind: a rule that would have answered, for operators. Nothing is allowed before
 * the person has seen what it would change and writes it.
 */
export const FewerQuestions = ({ approval }: { readonly approval: Approval }) => {
  const mayWrite = useMay('policies.manage')
  const { status, critical, stale } = approval
  const isAgreed = status === 'approved' || (status === 'pending' && stale === null)
  return mayWrite && isAgreed && !critical ? <Search approval={approval} /> : null
}
