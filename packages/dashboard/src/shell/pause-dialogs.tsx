import type { ServicePause } from '@gatehouse/contract'
import { useState } from 'react'
import { api, queryClient } from '../api.ts'
import { shellText as text } from '../messages/shell.ts'
import { FormDialog } from '../ui/dialog.tsx'
import { Checkbox, TextField } from '../ui/field.tsx'
import { announce } from '../ui/toasts.tsx'

const readAgain = () =>
  Promise.all(
    ['showPause', 'getStatus', 'listAgents', 'showAgent'].map((name) =>
      queryClient.invalidateQueries({ queryKey: [name] }),
    ),
  )

/** Pausing everything asks first, and why. */
export const PauseDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [reason, setReason] = useState('')
  const pause = async () => {
    const { count } = await api.pauseAll({ reason })
    onClose()
    announce(text.pausedAll(count))
    await readAgain()
  }
  return (
    <FormDialog
      title={text.pauseAllTitle}
      submit={text.pauseAll}
      danger
      onSubmit={pause}
      onClose={onClose}
    >
      <p>{text.pauseAllIntro}</p>
      <TextField
        label={text.pauseReason}
        hint={text.pauseReasonHint}
        maxLength={2000}
        autoComplete="off"
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
    </FormDialog>
  )
}

/** Everybody comes back, unless somebody is left out for now. */
export const ResumeDialog = ({
  pause: { agents },
  onClose,
}: {
  readonly pause: ServicePause
  readonly onClose: () => void
}) => {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const back = agents.filter((name) => !left.has(name))
  const toggle = (name: string) =>
    setLeft((before) => {
      const next = new Set(before)
      if (!next.delete(name)) next.add(name)
      return next
    })
  const resume = async () => {
    // Without names the pause itself ends, also for agents that come to it meanwhile.
    const { count } = await api.resumeAll(
      back.length === agents.length ? {} : { agents: [...back] },
    )
    onClose()
    announce(text.resumedAll(count))
    await readAgain()
  }
  return (
    <FormDialog
      title={text.resumeTitle}
      submit={agents.length === 0 ? text.resumeEnd : text.resumeCount(back.length)}
      disabled={agents.length > 0 && back.length === 0}
      onSubmit={resume}
      onClose={onClose}
    >
      {agents.length === 0 ? (
        <p>{text.resumeNone}</p>
      ) : (
        <fieldset className="grid gap-1">
          <legend className="mb-2">{text.resumeIntro}</legend>
          <div className="grid max-h-72 gap-2 overflow-y-auto rounded-lg border border-line p-3">
            {agents.map((name) => (
              <Checkbox
                key={name}
                label={name}
                checked={!left.has(name)}
                onChange={() => toggle(name)}
              />
            ))}
          </div>
        </fieldset>
      )}
    </FormDialog>
  )
}
