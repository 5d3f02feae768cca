import type { Approval, Whoami } from '@gatehouse/contract'
import { type KeyboardEvent, useState } from 'react'
import { api, queryClient, sessionKey } from '../../api.ts'
import { takeRecord } from '../../live/take-record.ts'
import { approvalsText as text } from '../../messages/approvals.ts'
import { useMay, useSession } from '../../session.tsx'
import { actAndSay } from '../../ui/act-and-say.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Menu, type MenuItem } from '../../ui/menu.tsx'
import { Failure } from '../../ui/notice.tsx'
import { useAct } from '../../ui/use-act.ts'
import { LoginForm } from '../entry/login-form.tsx'
import { AllowDialog } from './allow-dialog.tsx'
import { EditDialog } from './edit-dialog.tsx'
import { decideMany, decideOne, isLoginTooOld } from './use-decide.ts'

type Verdict = 'approve' | 'reject'

const pauseAgent = (name: string): void =>
  actAndSay(
    async () => {
      await api.pauseAgent({ name })
      return text.paused(name)
    },
    () => api.resumeAgent({ name }),
  )

/** Logs in again where a critical request asks for it; the decision is then sent as it was made. */
const LogInAgain = ({
  onDone,
  onClose,
}: {
  readonly onDone: () => void
  readonly onClose: () => void
}) => {
  const { whoami } = useSession()
  const done = (next: Whoami) => {
    takeRecord(queryClient, sessionKey, next)
    onDone()
  }
  return (
    <Dialog title={text.logInAgain} onClose={onClose}>
      <p className="mb-4">{text.tooOld}</p>
      <LoginForm name={whoami.name} onDone={done} />
    </Dialog>
  )
}

type Opened = 'edit' | 'allow' | 'login'

/** Further actions: some of them about one request only, and not about a critical one. */
const itemsOf = (
  { agent, critical, stale }: Approval,
  isOne: boolean,
  mayPause: boolean,
  open: (what: Opened) => void,
): readonly MenuItem[] => [
  ...(isOne && !critical && stale === null
    ? [
        { text: text.edit, onSelect: () => open('edit') },
        { text: text.allow, onSelect: () => open('allow') },
      ]
    : []),
  ...(mayPause
    ? [{ text: text.pauseAgent(agent), danger: true, onSelect: () => pauseAgent(agent) }]
    : []),
]

/** Enter in the reason would press the first button of the form: who types why not would have approved. */
const keepEnter = (event: KeyboardEvent): void => {
  if (event.key === 'Enter') event.preventDefault()
}

/** Approve or reject one request or a group of identical ones, with what else can be done about them. */
export const Decision = ({
  approvals,
  onDecided,
}: {
  readonly approvals: readonly [Approval, ...Approval[]]
  readonly onDecided: (ids: readonly string[]) => void
}) => {
  const [first] = approvals
  const [reason, setReason] = useState('')
  const [open, setOpen] = useState<Opened | null>(null)
  const [last, setLast] = useState<Verdict>('approve')
  const act = useAct()
  const mayPause = useMay('agents.manage')
  const isOne = approvals.length === 1
  const finish = (...ids: readonly string[]) =>
    onDecided([...approvals.map(({ id }) => id), ...ids])

  const send = async (verdict: Verdict) => {
    setLast(verdict)
    const work = async () => {
      try {
        await (isOne
          ? decideOne(first, verdict, { reason })
          : decideMany(approvals, verdict, reason))
      } catch (error) {
        if (!isLoginTooOld(error)) throw error
        setOpen('login')
        return
      }
      finish()
    }
    await act.run(work)
  }
  const decideWith = async (extra: Parameters<typeof decideOne>[2]) => {
    const decided = await decideOne(first, 'approve', extra)
    setOpen(null)
    finish(...(decided.edit ? [decided.edit.request] : []))
  }
  const cannotRun = first.stale !== null
  const items = itemsOf(first, isOne, mayPause, setOpen)
  // Dialogs stand beside the form: what is submitted in them is not a decision of its buttons.
  const close = () => setOpen(null)
  return (
    <>
      <form
        className="grid gap-3 border-t border-line pt-3"
        onSubmit={(event) => {
          event.preventDefault()
          const { submitter } = event.nativeEvent as SubmitEvent
          void send(submitter?.getAttribute('value') === 'reject' ? 'reject' : 'approve')
        }}
      >
        {!isOne && <p className="text-ink-soft">{text.identicalNote(approvals.length)}</p>}
        <TextField
          label={text.reason}
          maxLength={2000}
          autoComplete="off"
          value={reason}
          onChange={({ target }) => setReason(target.value)}
          onKeyDown={keepEnter}
        />
        <Failure error={act.error} />
        <div className="flex flex-wrap gap-2">
          <Button
            type="submit"
            value="approve"
            tone="primary"
            icon="check"
            busy={act.busy}
            disabled={cannotRun}
            data-decide="approve"
            className="max-sm:grow"
          >
            {isOne ? text.approve : text.approveCount(approvals.length)}
          </Button>
          <Button
            type="submit"
            value="reject"
            tone="danger"
            icon="cross"
            busy={act.busy}
            data-decide="reject"
            className="max-sm:grow"
          >
            {isOne ? text.reject : text.rejectCount(approvals.length)}
          </Button>
          {items.length > 0 && (
            <Menu trigger={<Button icon="more">{text.more}</Button>} items={items} />
          )}
        </div>
        <p className="mono text-[0.8rem] text-ink-soft [overflow-wrap:anywhere]">
          {text.boundTo} {first.digest}
        </p>
      </form>
      {open === 'edit' && <EditDialog approval={first} onDecide={decideWith} onClose={close} />}
      {open === 'allow' && <AllowDialog approval={first} onDecide={decideWith} onClose={close} />}
      {open === 'login' && (
        <LogInAgain
          onClose={close}
          onDone={() => {
            close()
            void send(last)
          }}
        />
      )}
    </>
  )
}
