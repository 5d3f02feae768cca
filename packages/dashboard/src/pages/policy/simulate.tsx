import type { PolicySimulation, SimulatedCall } from '@gatehouse/contract'
import { useState } from 'react'
import { api, useRead } from '../../api.ts'
import { policyText as text } from '../../messages/policy.ts'
import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { Failure } from '../../ui/notice.tsx'
import { readObject } from '../../ui/read-object.ts'
import { useAct } from '../../ui/use-act.ts'
import { Visible } from '../../ui/visible.tsx'
import { Problems } from './problems.tsx'
import { draftBody, useDraft } from './use-draft.ts'

const tones: Readonly<Record<SimulatedCall['tier'], BadgeTone>> = {
  autonomous: 'good',
  approval_required: 'warn',
  blocked: 'bad',
}
const kindTiers = { allow: 'autonomous', ask: 'approval_required', deny: 'blocked' } as const

const Verdict = ({ call }: { readonly call: SimulatedCall }) => {
  const tier = call.decision ? kindTiers[call.decision.kind] : call.tier
  return (
    <span className="flex flex-wrap gap-1.5">
      {call.barred === null ? (
        <Badge tone={tones[tier]}>{text.tiers[tier]}</Badge>
      ) : (
        <Badge tone="bad">{text.barred[call.barred]}</Badge>
      )}
      {call.active_tier !== null && call.active_tier !== call.tier && (
        <Badge>{text.was(text.tiers[call.active_tier])}</Badge>
      )}
      {!call.arguments_fit && <Badge tone="warn">{text.misfit}</Badge>}
    </span>
  )
}

const Why = ({ call: { decision, steps } }: { readonly call: SimulatedCall }) => (
  <div className="min-w-48">
    {decision?.rule ? (
      <span className="mono [overflow-wrap:anywhere]">{`${decision.rule.file}:${decision.rule.line}`}</span>
    ) : (
      <span className="text-ink-soft">{text.noRule}</span>
    )}
    {decision?.reason != null && (
      <p>
        <Visible text={decision.reason} />
      </p>
    )}
    {steps && steps.length > 0 && (
      <details>
        <summary className="min-h-6 text-ink-soft">{text.steps}</summary>
        <ol className="mono list-decimal pl-6">
          {steps.map(({ rule, outcome, detail }, at) => (
            // A rule may be looked at twice; its place in the list is what tells the two apart.
            <li key={`${rule.file}:${rule.line}:${at}`} className="[overflow-wrap:anywhere]">
              <Visible
                text={`${rule.file}:${rule.line} ${rule.match}: ${outcome}${detail === undefined ? '' : ` (${detail})`}`}
              />
            </li>
          ))}
        </ol>
      </details>
    )}
  </div>
)

const columns: readonly Column<SimulatedCall>[] = [
  { id: 'agent', header: text.agent, sortBy: ({ agent }) => agent, cell: ({ agent }) => agent },
  {
    id: 'capability',
    header: text.capability,
    sortBy: ({ capability }) => capability,
    cell: ({ capability }) => capability,
  },
  {
    id: 'decision',
    header: text.decision,
    sortBy: ({ tier }) => tier,
    cell: (call) => <Verdict call={call} />,
  },
  { id: 'why', header: text.trace, wide: true, cell: (call) => <Why call={call} /> },
]

/** What policy would decide, without a call: one agent, or who could do this. */
export const Simulate = () => {
  const draft = draftBody(useDraft())
  const agents = useRead('listAgents').data?.agents ?? []
  const [by, setBy] = useState('active')
  const [agent, setAgent] = useState('')
  const [capability, setCapability] = useState('filesystem.delete')
  const [written, setWritten] = useState('')
  const [found, setFound] = useState<PolicySimulation | null>(null)
  const act = useAct()
  const given = written.trim() === '' ? { value: undefined } : readObject(written)
  const simulate = () =>
    void act.run(async () => {
      if (!('value' in given)) throw new Error(text.badArguments(given.problem))
      setFound(
        await api.simulatePolicy({
          capabilities: [capability.trim()],
          trace: true,
          ...(agent === '' ? {} : { agents: [agent] }),
          ...(given.value === undefined ? {} : { arguments: given.value }),
          ...(by === 'draft' && draft ? { draft } : {}),
        }),
      )
    })
  return (
    <>
      <form
        className="card mb-4 grid grid-cols-1 gap-4 p-4 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault()
          simulate()
        }}
      >
        <SelectField
          label={text.draft}
          value={draft ? by : 'active'}
          hint={draft ? undefined : text.noDraft}
          onChange={({ target }) => setBy(target.value)}
          options={[
            { value: 'active', text: text.activePolicy },
            ...(draft ? [{ value: 'draft', text: text.draftPolicy }] : []),
          ]}
        />
        <SelectField
          label={text.agents}
          value={agent}
          onChange={({ target }) => setAgent(target.value)}
          options={[
            { value: '', text: text.allAgents },
            ...agents.map(({ name }) => ({ value: name, text: name })),
          ]}
        />
        <TextField
          label={text.capability}
          hint={text.capabilityHint}
          required
          spellCheck={false}
          value={capability}
          onChange={({ target }) => setCapability(target.value)}
        />
        <TextArea
          label={text.arguments}
          hint={text.argumentsHint}
          error={'problem' in given ? text.badArguments(given.problem) : undefined}
          mono
          rows={3}
          spellCheck={false}
          value={written}
          onChange={({ target }) => setWritten(target.value)}
        />
        <div className="sm:col-span-2">
          <Button type="submit" tone="primary" busy={act.busy}>
            {text.simulate}
          </Button>
        </div>
      </form>
      <Failure error={act.error} />
      {found && found.problems.length > 0 && <Problems problems={found.problems} />}
      {found?.results.length === 0 && <p role="status">{text.noResults}</p>}
      {found && found.results.length > 0 && (
        <DataTable
          caption={text.tabs.simulate}
          rows={found.results}
          columns={columns}
          keyOf={(call) => `${call.agent} ${call.capability}`}
        />
      )}
    </>
  )
}
