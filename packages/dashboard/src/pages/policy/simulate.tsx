import type { PolicySimulation, SimulatePolicy } from '@gatehouse/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { read, useRead } from '../../api.ts'
import { policyText as text } from '../../messages/policy.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { AgentFilter } from '../../ui/filters.tsx'
import { readObject } from '../../ui/read-object.ts'
import { Loaded } from '../../ui/states.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { type Draft, draftInput, useDrafts } from './drafts.ts'
import { Simulated } from './simulated.tsx'

type Question = Partial<SimulatePolicy>

/** In place of the name of a draft. */
const active = 'active'

/** Calls of one answer that come with each rule that was looked at. */
const tracedMax = 500

const callsOf = (pattern: string, names: readonly string[], agents: number): number => {
  const group = pattern.endsWith('*') ? pattern.slice(0, -1) : null
  return agents * names.filter((name) => group !== null && name.startsWith(group)).length || agents
}

const Answer = ({ question }: { readonly question: Question }) => (
  <Loaded
    query={useQuery<PolicySimulation>({
      ...read('simulatePolicy', question),
      placeholderData: keepPreviousData,
    })}
  >
    {(simulation) => <Simulated simulation={simulation} drafted={question.draft !== undefined} />}
  </Loaded>
)

/** Typed values, as a question to the service; a text where it can't be one. */
function questionOf(
  typed: {
    readonly agent: string
    readonly capability: string
    readonly args: string
    readonly at: string
  },
  draft: Draft | undefined,
  calls: number,
): Question | string {
  const given = typed.args.trim() === '' ? null : readObject(typed.args)
  if (given && 'problem' in given) return given.problem
  return {
    capabilities: [typed.capability.trim()],
    ...(typed.agent === '' ? {} : { agents: [typed.agent] }),
    ...(given ? { arguments: given.value, trace: calls <= tracedMax } : {}),
    ...(typed.at === '' ? {} : { at: new Date(typed.at).toISOString() }),
    ...(draft ? { draft: draftInput(draft) } : {}),
  }
}

/** Calls that nobody makes: of one agent or of all, by the active policy or with a draft. */
export const Simulate = ({ names }: { readonly names: readonly string[] }) => {
  const list = useId()
  const drafts = useDrafts()
  // A draft is what its writer came to try.
  const [draft = active] = Object.keys(drafts)
  const [{ agent, capability, by }, change] = useFilters({ agent: '', capability: '', by: draft })
  const [args, setArgs] = useState('')
  const [at, setAt] = useState('')
  const [asked, setAsked] = useState<Question | null>(null)
  const agents = useRead('listAgents')
  const known = agents.data?.agents.length ?? Number.POSITIVE_INFINITY
  const calls = callsOf(capability.trim(), names, agent === '' ? known : 1)
  const question = questionOf({ agent, capability, args, at }, drafts[by], calls)
  return (
    <div className="grid grid-cols-1 gap-4">
      <p className="max-w-prose text-ink-soft">{text.simulateIntro}</p>
      <form
        className="card grid grid-cols-1 gap-3 p-4 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault()
          if (typeof question !== 'string') setAsked(question)
        }}
      >
        <AgentFilter value={agent} onChange={(next) => change({ agent: next })} />
        <TextField
          label={text.capability}
          hint={text.capabilityHint}
          list={list}
          required
          autoComplete="off"
          spellCheck={false}
          value={capability}
          onChange={({ target }) => change({ capability: target.value })}
        />
        <datalist id={list}>
          {names.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </datalist>
        <SelectField
          label={text.by}
          value={by in drafts ? by : active}
          onChange={({ target }) => change({ by: target.value })}
          options={[
            { value: active, text: text.byActive },
            ...Object.keys(drafts).map((file) => ({ value: file, text: text.byDraft(file) })),
          ]}
        />
        <TextField
          label={text.moment}
          hint={text.momentHint}
          type="datetime-local"
          value={at}
          onChange={({ target }) => setAt(target.value)}
        />
        <TextArea
          label={text.args}
          hint={text.argsHint}
          error={typeof question === 'string' ? text.argsBad(question) : undefined}
          className="sm:col-span-2"
          mono
          rows={3}
          spellCheck={false}
          value={args}
          onChange={({ target }) => setArgs(target.value)}
        />
        <div className="sm:col-span-2">
          <Button
            type="submit"
            tone="primary"
            icon="play"
            disabled={typeof question === 'string' || (agent === '' && agents.isPending)}
          >
            {text.simulate}
          </Button>
        </div>
      </form>
      {asked && <Answer question={asked} />}
    </div>
  )
}
