import type { AlertHandling, AlertKind } from '@gatehouse/contract'
import { useState } from 'react'
import { api, queryClient } from '../../api.ts'
import { alertsText as text } from '../../messages/alerts.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { announce } from '../../ui/toasts.tsx'

/** Mutes a kind of alerts, or those of one agent, for a time and with a reason. */
export const MuteDialog = ({
  kind,
  agent,
  onClose,
}: {
  readonly kind: AlertKind
  readonly agent: string | null
  readonly onClose: () => void
}) => {
  const [seconds, setSeconds] = useState('3600')
  const [reason, setReason] = useState('')
  const what = agent ?? kind
  const mute = async () => {
    const who = agent === null ? {} : { agent }
    const handling = await api.muteAlerts({ kind, ...who, seconds: Number(seconds), reason })
    const take = (now: AlertHandling) => queryClient.setQueryData(['showAlertHandling', {}], now)
    take(handling)
    announce(text.muted(what), async () => take(await api.unmuteAlerts({ kind, ...who })))
    onClose()
  }
  return (
    <FormDialog
      title={text.muteTitle(what)}
      submit={text.muteNow}
      disabled={reason.trim() === ''}
      onSubmit={mute}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <p>{text.muteIntro}</p>
          <SelectField
            label={text.howLong}
            value={seconds}
            onChange={({ target }) => setSeconds(target.value)}
            options={text.lengths}
          />
          <TextField
            label={text.reason}
            required
            maxLength={2000}
            error={errors['reason']}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        </>
      )}
    </FormDialog>
  )
}
