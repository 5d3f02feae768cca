import type { Approval } from '@gatehouse/contract'
import { useState } from 'react'
import { approvalsText as text } from '../../messages/approvals.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'

const times = [
  { value: '3600', text: text.times.hour },
  { value: '14400', text: text.times.fourHours },
  { value: '86400', text: text.times.day },
]

const matches = ['same_arguments', 'same_capability'] as const
type Remember = {
  readonly ttl_seconds: number
  readonly match: (typeof matches)[number]
  readonly uses?: number
}

/** Approves, and lets later calls run without asking for a time. */
export const AllowDialog = ({
  approval: { agent, capability },
  onDecide,
  onClose,
}: {
  readonly approval: Approval
  readonly onDecide: (extra: { readonly remember: Remember }) => Promise<unknown>
  readonly onClose: () => void
}) => {
  const [match, setMatch] = useState<(typeof matches)[number]>('same_arguments')
  const [seconds, setSeconds] = useState('3600')
  const [uses, setUses] = useState('')
  const submit = () =>
    onDecide({
      remember: {
        ttl_seconds: Number(seconds),
        match,
        ...(uses === '' ? {} : { uses: Number(uses) }),
      },
    })
  return (
    <FormDialog
      title={text.allowTitle}
      submit={text.allowSubmit}
      onSubmit={submit}
      onClose={onClose}
    >
      <p className="[overflow-wrap:anywhere]">{text.allowIntro(capability, agent)}</p>
      <SelectField
        label={text.allowMatch}
        value={match}
        onChange={({ target }) =>
          setMatch(matches.find((one) => one === target.value) ?? 'same_arguments')
        }
        options={[
          { value: 'same_arguments', text: text.allowSame },
          { value: 'same_capability', text: text.allowAll(capability) },
        ]}
      />
      <SelectField
        label={text.allowTime}
        value={seconds}
        onChange={({ target }) => setSeconds(target.value)}
        options={times}
      />
      <TextField
        label={text.allowUses}
        hint={text.allowUsesHint}
        type="number"
        min={1}
        max={1_000_000}
        inputMode="numeric"
        value={uses}
        onChange={({ target }) => setUses(target.value)}
      />
    </FormDialog>
  )
}
