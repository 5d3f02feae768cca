import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { common } from '../../messages/common.ts'
import { policyText as text } from '../../messages/policy.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Failure } from '../../ui/notice.tsx'
import { Empty } from '../../ui/states.tsx'
import { useDrafts } from './drafts.ts'
import { Replayed } from './replayed.tsx'
import { useReplay } from './use-replay.ts'

const Progress = ({
  done,
  total,
  onCancel,
}: {
  readonly done: number
  readonly total: number
  readonly onCancel: () => void
}) => (
  <div className="card grid grid-cols-1 gap-2 p-4">
    <progress
      className="w-full accent-accent"
      aria-label={text.progress}
      {...(total > 0 ? { value: done, max: total } : {})}
    />
    <div className="flex flex-wrap items-center gap-3">
      <p className="figure grow" role="status">
        {total > 0 ? text.done(done, total) : text.starting}
      </p>
      <Button onClick={onCancel}>{common.cancel}</Button>
    </div>
  </div>
)

/** Calls in the audit log that a draft would have decided otherwise. */
export const Replay = () => {
  const drafts = Object.values(useDrafts())
  const [chosen, setChosen] = useState('')
  const [days, setDays] = useState('7')
  const { state, start, cancel } = useReplay()
  const navigate = useNavigate()
  const draft = drafts.find(({ file }) => file === chosen) ?? drafts[0]
  if (!draft)
    return (
      <Empty icon="policy" title={text.noDraft}>
        <p className="mb-3">{text.noDraftNext}</p>
        <Button onClick={() => void navigate({ to: '.', search: { tab: 'edit' } })}>
          {text.tabs.edit}
        </Button>
      </Empty>
    )
  return (
    <div className="grid grid-cols-1 gap-4">
      <p className="max-w-prose text-ink-soft">{text.replayIntro}</p>
      <form
        className="card grid grid-cols-1 items-start gap-3 p-4 sm:flex sm:flex-wrap"
        onSubmit={(event) => {
          event.preventDefault()
          void start(draft, Number(days))
        }}
      >
        <SelectField
          label={text.draft}
          className="sm:min-w-60"
          value={draft.file}
          onChange={({ target }) => setChosen(target.value)}
          options={drafts.map(({ file }) => ({ value: file, text: file }))}
        />
        <TextField
          label={text.days}
          hint={text.daysHint}
          className="sm:max-w-40"
          type="number"
          min={1}
          max={90}
          required
          inputMode="numeric"
          value={days}
          onChange={({ target }) => setDays(target.value)}
        />
        <div className="sm:pt-6">
          <Button type="submit" tone="primary" icon="play" busy={state.kind === 'running'}>
            {text.replay}
          </Button>
        </div>
      </form>
      {state.kind === 'running' && <Progress {...state} onCancel={cancel} />}
      {state.kind === 'cancelled' && <p role="status">{text.cancelled}</p>}
      {state.kind === 'failed' && <Failure error={state.error} />}
      {state.kind === 'done' && <Replayed result={state.result} />}
    </div>
  )
}
