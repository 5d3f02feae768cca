import type { Approval } from '@gatehouse/contract'
import { useState } from 'react'
import { approvalsText as text } from '../../messages/approvals.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/field.tsx'
import { readObject } from '../../ui/read-object.ts'

type Fields = Readonly<Record<string, unknown>>

/** Other arguments than those asked for: what runs is a new request, with a digest of its own. */
export const EditDialog = ({
  approval,
  onDecide,
  onClose,
}: {
  readonly approval: Approval
  readonly onDecide: (extra: {
    readonly arguments: Fields
    readonly reason: string
  }) => Promise<unknown>
  readonly onClose: () => void
}) => {
  const before = JSON.stringify(approval.effective_arguments, null, 2)
  const [written, setWritten] = useState(before)
  const [reason, setReason] = useState('')
  const readNow = readObject(written)
  return (
    <FormDialog
      title={text.editTitle}
      submit={text.editSubmit}
      wide
      disabled={!('value' in readNow) || written === before}
      onSubmit={async () => {
        if ('value' in readNow) await onDecide({ arguments: readNow.value, reason })
      }}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <p>{text.editIntro}</p>
          <TextArea
            label={text.editField}
            mono
            rows={12}
            spellCheck={false}
            value={written}
            error={'problem' in readNow ? text.editBad(readNow.problem) : errors['arguments']}
            hint={written === before ? text.editUnchanged : undefined}
            onChange={({ target }) => setWritten(target.value)}
          />
          <TextArea
            label={text.reason}
            rows={2}
            maxLength={2000}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        </>
      )}
    </FormDialog>
  )
}
