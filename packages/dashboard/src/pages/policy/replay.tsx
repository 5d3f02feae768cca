import type { PolicyReplayLine, ReplayedAgent } from '@gatehouse/contract'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { api } from '../../api.ts'
import { policyText as text } from '../../messages/policy.ts'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Failure, Notice } from '../../ui/notice.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Empty } from '../../ui/states.tsx'
import { useAct } from '../../ui/use-act.ts'
import { type Draft, draftBody, useDraft } from './use-draft.ts'

type Result = Extract<PolicyReplayLine, { kind: 'result' }>
type Progress = Extract<PolicyReplayLine, { kind: 'progress' }>
type Row = ReplayedAgent['changes'][number] & { readonly agent: string }

const columns: readonly Column<Row>[] = [
  { id: 'agent', header: text.agent, sortBy: ({ agent }) => agent, cell: ({ agent }) => agent },
  {
    id: 'capability',
    header: text.capability,
    wide: true,
    sortBy: ({ capability }) => capability,
    cell: ({ capability, rule, examples }) => (
      <>
        {capability}
        {rule && <p className="mono text-ink-soft">{`${rule.file}:${rule.line}`}</p>}
        {examples[0] !== undefined && (
          <Link to="/audit/$id" params={{ id: examples[0] }} className="mono underline">
            {examples[0]}
          </Link>
        )}
      </>
    ),
  },
  {
    id: 'change',
    header: text.change,
    cell: ({ from, to }) => `${text.tiers[from]} → ${text.tiers[to]}`,
  },
  {
    id: 'calls',
    header: text.calls,
    align: 'right',
    sortBy: ({ calls }) => calls,
    cell: ({ calls }) => numberText(calls),
  },
]

const days = [
  { value: '1', text: text.dayChoices.day },
  { value: '7', text: text.dayChoices.week },
  { value: '30', text: text.dayChoices.month },
]

const ResultView = ({ result }: { readonly result: Result }) => {
  const rows = result.agents.flatMap(({ agent, changes }) =>
    changes.map((change) => ({ ...change, agent })),
  )
  return (
    <div className="grid gap-3">
      <Notice tone={result.changed === 0 ? 'good' : 'warn'} role="status">
        {text.result(result.calls, result.changed, result.cannot_say)}
      </Notice>
      {result.cannot_say > 0 && <p className="text-ink-soft">{text.cannotSay}</p>}
      {rows.length === 0 ? (
        <p>{text.noChanges}</p>
      ) : (
        <DataTable
          caption={text.tabs.replay}
          rows={rows}
          columns={columns}
          keyOf={({ agent, capability, from, to }) => `${agent} ${capability} ${from} ${to}`}
        />
      )}
    </div>
  )
}

const Replaying = ({ draft }: { readonly draft: NonNullable<ReturnType<typeof draftBody>> }) => {
  const [span, setSpan] = useState('7')
  const [progress, setProgress] = useState<Progress | null>(null)
  const [result, setResult] = useState<Result | null>(null)
  const act = useAct()
  const lines = useRef<AsyncGenerator<string>>(undefined)
  const stop = () => void lines.current?.return(undefined)
  useEffect(() => () => void lines.current?.return(undefined), [])
  const replay = () =>
    void act.run(async () => {
      setResult(null)
      setProgress(null)
      const reading = api.replayPolicy({ draft, days: Number(span) })
      lines.current = reading
      for await (const line of reading) {
        const told = JSON.parse(line) as PolicyReplayLine
        if (told.kind === 'progress') setProgress(told)
        else setResult(told)
      }
      setProgress(null)
    })
  return (
    <>
      <p className="mb-3 max-w-prose text-ink-soft">{text.replayIntro}</p>
      <div className="mb-4 flex flex-wrap items-end gap-3">
        <SelectField
          label={text.days}
          value={span}
          onChange={({ target }) => setSpan(target.value)}
          options={days}
        />
        <Button tone="primary" busy={act.busy} onClick={replay}>
          {text.replay}
        </Button>
        {act.busy && <Button onClick={stop}>{text.cancel}</Button>}
      </div>
      {progress && (
        <div className="mb-3">
          <progress
            aria-label={text.replay}
            max={Math.max(progress.total, 1)}
            value={progress.done}
            className="w-full accent-accent"
          />
          <p className="text-ink-soft">{text.progress(progress.done, progress.total)}</p>
        </div>
      )}
      <Failure error={act.error} />
      {result && <ResultView result={result} />}
    </>
  )
}

/** What the text under Edit would have decided otherwise in the past. */
export const Replay = () => {
  const kept: Draft | null = useDraft()
  const draft = draftBody(kept)
  return draft ? (
    <Replaying draft={draft} />
  ) : (
    <Empty icon="policy" title={text.noDraft}>
      {text.replayIntro}
    </Empty>
  )
}
