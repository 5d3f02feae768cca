import type { AuditEntry } from '@gatehouse/contract'
import { describeEntry } from '@gatehouse/contract/describe-call'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { api, useRead } from '../../api.ts'
import { auditText as text } from '../../messages/audit.ts'
import { common } from '../../messages/common.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Json } from '../../ui/code.tsx'
import { Failure } from '../../ui/notice.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Facts, Page, Section } from '../../ui/page.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { Loaded } from '../../ui/states.tsx'
import { durationText, ExactTime } from '../../ui/time.tsx'
import { useAct } from '../../ui/use-act.ts'
import { Visible } from '../../ui/visible.tsx'
import { Because } from '../policy/because.tsx'
import { EntryResult } from './entry-result.tsx'

type Shown = { readonly entry: AuditEntry }

const mono = (value: string) => <span className="mono">{value}</span>

const entryLink = (id: string) => (
  <Link to="/audit/$id" params={{ id }} className="mono underline">
    {id}
  </Link>
)

/** Entries of an agent that are looked through for an outcome. */
const lookedAt = 200

/** Entry of what became of the call, among the first ones after its intent. */
async function findOutcome({ id, agent, capability, timestamp }: AuditEntry) {
  const calls = { agent, capability, since: timestamp }
  const { total, as_of } = await api.queryAudit({ ...calls, limit: 1 })
  const offset = Math.max(0, total - lookedAt)
  const { entries } = await api.queryAudit({ ...calls, as_of, limit: lookedAt, offset })
  return entries.find(({ intent_id }) => intent_id === id) ?? null
}

/** An entry before a run. Others that are pending wait for a person. */
const isIntent = ({ kind, result, policy_decision, detail }: AuditEntry): boolean =>
  kind === 'call' &&
  result === 'pending' &&
  (policy_decision !== 'approval_required' ||
    detail?.['execution'] === 'running' ||
    detail?.['grant_id'] !== undefined)

/** Entry before it in the log of the same node. */
async function findPrevious({ chain, seq }: AuditEntry) {
  const { entries } = await api.queryAudit({ as_of: `${chain}:${seq}`, limit: 1 })
  return entries.find((entry) => entry.chain === chain && entry.seq === seq - 1) ?? null
}

const Previous = ({ entry }: Shown) => (
  <Loaded
    query={useQuery<AuditEntry | null>({
      queryKey: ['entryBefore', entry.id],
      queryFn: () => findPrevious(entry),
      staleTime: Number.POSITIVE_INFINITY,
    })}
  >
    {(previous) => (previous ? entryLink(previous.id) : text.noPrevious)}
  </Loaded>
)

const Outcome = ({ intent }: { readonly intent: AuditEntry }) => (
  <Loaded
    query={useQuery<AuditEntry | null>({
      queryKey: ['outcomeOf', intent.id],
      queryFn: () => findOutcome(intent),
    })}
  >
    {(outcome) => (outcome ? entryLink(outcome.id) : text.noOutcome)}
  </Loaded>
)

const factsOf = (entry: AuditEntry): readonly (readonly [string, ReactNode])[] => [
  [text.time, <ExactTime key="time" at={entry.timestamp} />],
  [text.object, <Visible key="what" text={describeEntry(entry) || '–'} />],
  [text.actor, <Visible key="actor" text={common.person(entry.actor)} />],
  ...(entry.agent === ''
    ? []
    : [
        [
          common.agent,
          <Link key="agent" to="/agents/$name" params={{ name: entry.agent }} className="underline">
            {entry.agent}
          </Link>,
        ] as const,
      ]),
  [text.policyDecision, text.decision[entry.policy_decision]],
  ...(entry.rule ? [[text.rule, mono(`${entry.rule.file}:${entry.rule.line}`)] as const] : []),
  ...(entry.duration_ms === null
    ? []
    : [[text.duration, durationText(entry.duration_ms)] as const]),
  ...(entry.session_id === null
    ? []
    : [
        [
          text.session,
          <Link
            key="session"
            to="/audit"
            search={{ session: entry.session_id }}
            className="mono underline"
          >
            {entry.session_id}
          </Link>,
        ] as const,
      ]),
  [text.request, mono(entry.request_id)],
  ...(entry.approval_id === null
    ? []
    : [
        [
          text.approval,
          <Link
            key="approval"
            to="/approvals/$id"
            params={{ id: entry.approval_id }}
            className="mono underline"
          >
            {entry.approval_id}
          </Link>,
        ] as const,
      ]),
  ...(entry.intent_id === null ? [] : [[text.intent, entryLink(entry.intent_id)] as const]),
  ...(isIntent(entry) ? [[text.outcome, <Outcome key="outcome" intent={entry} />] as const] : []),
  [text.sequence, numberText(entry.seq)],
  [text.hash, mono(entry.hash)],
  [text.chain, mono(entry.chain)],
  [text.previous, <Previous key="previous" entry={entry} />],
]

const Decided = ({ entry: { agent, capability, arguments: args, timestamp } }: Shown) => (
  <Loaded
    query={useRead('simulatePolicy', {
      ...{ agents: [agent], capabilities: [capability], arguments: args },
      ...{ at: timestamp, trace: true },
    })}
  >
    {({ results }) => {
      const [call] = results
      return call ? <Because {...call} isOpen /> : text.traceGone
    }}
  </Loaded>
)

/** Evaluation of the call by the active policy, once somebody asks for it. */
const Trace = ({ entry }: Shown) => {
  const [isAsked, setAsked] = useState(false)
  return (
    <Section
      title={text.trace}
      actions={!isAsked && <Button onClick={() => setAsked(true)}>{text.traceShow}</Button>}
    >
      <div className="card grid gap-2 p-4">
        <p className="text-ink-soft">{text.traceNow}</p>
        {isAsked && <Decided entry={entry} />}
      </div>
    </Section>
  )
}

/** Saves a proof as a file: the bytes stay what the service sent. */
async function downloadProof(id: string): Promise<void> {
  const proof = await api.proveAuditEntry({ id })
  const bytes = new Blob([JSON.stringify(proof, null, 2)], { type: 'application/json' })
  saveFile(`${id}.proof.json`, bytes)
}

const EntryView = ({ entry }: Shown) => {
  const act = useAct()
  return (
    <Page
      title={entry.capability}
      aside={<EntryResult entry={entry} />}
      actions={
        <>
          <LinkButton to="/audit">{text.back}</LinkButton>
          <Button busy={act.busy} onClick={() => void act.run(() => downloadProof(entry.id))}>
            {text.proof}
          </Button>
        </>
      }
    >
      <Failure error={act.error} />
      <div className="card p-4">
        <Facts items={factsOf(entry)} />
      </div>
      {entry.error && (
        <Section title={text.error}>
          <p className="card p-4 [overflow-wrap:anywhere]">
            <strong>{entry.error.type}</strong>: <Visible text={entry.error.message} />
          </p>
        </Section>
      )}
      <Section title={text.arguments}>
        <Json value={entry.arguments} label={text.arguments} tall />
      </Section>
      {entry.detail && (
        <Section title={text.detail}>
          <Json value={entry.detail} label={text.detail} tall />
        </Section>
      )}
      {entry.kind === 'call' && entry.policy_decision !== 'none' && <Trace entry={entry} />}
      <p className="mt-3 text-ink-soft">{text.proofHint}</p>
    </Page>
  )
}

export const EntryPage = () => {
  const { id = '' } = useParams({ strict: false })
  return (
    <Loaded query={useRead('showAuditEntry', { id })}>
      {(entry) => <EntryView entry={entry} />}
    </Loaded>
  )
}
