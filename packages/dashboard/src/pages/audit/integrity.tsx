import type { Integrity } from '@gatehouse/contract'
import { useState } from 'react'
import { api, queryClient } from '../../api.ts'
import { auditText as text } from '../../messages/audit.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Failure, Notice } from '../../ui/notice.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'
import { Visible } from '../../ui/visible.tsx'

const refresh = () => queryClient.invalidateQueries({ queryKey: ['queryAudit'] })

const AcknowledgeDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [reason, setReason] = useState('')
  const acknowledge = async () => {
    await api.acknowledgeAudit({ reason })
    await refresh()
    onClose()
  }
  return (
    <FormDialog
      title={text.acknowledgeTitle}
      submit={text.acknowledgeTitle}
      danger
      disabled={reason.trim() === ''}
      onSubmit={acknowledge}
      onClose={onClose}
    >
      <p>{text.acknowledgeIntro}</p>
      <TextArea
        label={text.reason}
        maxLength={2000}
        required
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
    </FormDialog>
  )
}

const headlineOf = ({ integrity, verified_through, logs }: Integrity, kind: string): string => {
  if (integrity === 'failed') return text.failed(kind)
  if (integrity === 'incomplete') return text.incomplete
  if (verified_through < 0) return text.empty
  const through = text.verified(numberText(verified_through))
  return logs ? text.verifiedOf(through, logs.own, logs.others) : through
}

const tones = { verified: 'good', incomplete: 'warn', failed: 'bad' } as const

const Words = ({ integrity }: { readonly integrity: Integrity }) => {
  const { kind = '', first_bad_id, first_bad_seq, detail, remedy } = integrity
  const { verified_at, unchecked = [] } = integrity
  const failed = integrity.integrity === 'failed'
  return (
    <>
      <p className="font-medium">{headlineOf(integrity, kind)}</p>
      {unchecked.map(({ log, since, reason, remedy }) => (
        <p key={log} className="text-[0.933rem]">
          <Visible text={text.unchecked(log)} /> <Time at={since} />.{' '}
          <Visible text={text.sentence(reason)} /> <Visible text={text.sentence(remedy)} />
        </p>
      ))}
      <p className="text-[0.933rem]">
        {failed && first_bad_id !== undefined && (
          <>{text.firstBad(numberText(first_bad_seq ?? 0), first_bad_id)} </>
        )}
        {detail !== undefined && <Visible text={`${text.sentence(detail)} `} />}
        {remedy !== undefined && <Visible text={`${text.sentence(remedy)} `} />}
        {text.checkedAt} <Time at={verified_at} />
      </p>
    </>
  )
}

/** Whether the log is what was written, through which entry, and since when; or where it is not. */
export const IntegrityBanner = ({ integrity }: { readonly integrity: Integrity }) => {
  const [open, setOpen] = useState(false)
  const act = useAct()
  const mayAcknowledge = useMay('audit.manage')
  const failed = integrity.integrity === 'failed'
  const verify = () =>
    void act.run(async () => {
      const found = await api.verifyAudit()
      await refresh()
      announce(
        found.integrity === 'verified' ? text.stillVerified : headlineOf(found, found.kind ?? ''),
      )
    })
  return (
    <div className="mb-4 grid gap-2">
      <Notice tone={tones[integrity.integrity]} role={failed ? 'alert' : 'status'}>
        <div className="flex flex-wrap items-center gap-3">
          <div className="min-w-0 grow">
            <Words integrity={integrity} />
          </div>
          <Button busy={act.busy} onClick={verify}>
            {act.busy ? text.verifying : text.verify}
          </Button>
          {failed && integrity.found_by === undefined && mayAcknowledge && (
            <Button tone="danger" onClick={() => setOpen(true)}>
              {text.acknowledge}
            </Button>
          )}
        </div>
      </Notice>
      <Failure error={act.error} />
      {open && <AcknowledgeDialog onClose={() => setOpen(false)} />}
    </div>
  )
}
