import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { common } from '../messages/common.ts'
import { Button, IconButton } from './button.tsx'
import { cx } from './cx.ts'
import { TextField } from './field.tsx'
import { Failure } from './notice.tsx'
import { useAct } from './use-act.ts'

const firstField = 'input, select, textarea, button[type="submit"]'

/**
 * The browser's own modal dialog: it keeps the focus, makes the rest inert, and needs no style that the
 * page's policy would refuse.
 */
export const Dialog = ({
  title,
  onClose,
  wide = false,
  children,
}: {
  readonly title: string
  readonly onClose: () => void
  readonly wide?: boolean
  readonly children: ReactNode
}) => {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    // The first field, not the button that closes.
    dialog.current?.querySelector<HTMLElement>(firstField)?.focus()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      className={cx(
        'm-auto max-h-[92dvh] w-[min(94vw,32rem)] overflow-y-auto rounded-xl border border-line bg-panel p-0 text-ink shadow-2xl max-sm:mb-0 max-sm:w-full max-sm:max-w-full max-sm:rounded-b-none',
        wide && 'w-[min(94vw,52rem)]',
      )}
    >
      <div className="sticky top-0 z-10 flex items-center gap-2 border-b border-line bg-panel py-2 pl-4 pr-2">
        <h2 id={id} className="grow text-[1.067rem] font-semibold [overflow-wrap:anywhere]">
          {title}
        </h2>
        <IconButton label={common.close} icon="close" onClick={onClose} />
      </div>
      <div className="p-4">{children}</div>
    </dialog>
  )
}

/** A form in a dialog: what was typed stays where the service refuses it. */
export const FormDialog = ({
  title,
  submit,
  danger = false,
  disabled = false,
  wide = false,
  onSubmit,
  onClose,
  children,
}: {
  readonly title: string
  /** Label of the button: what happens. */
  readonly submit: string
  readonly danger?: boolean
  readonly disabled?: boolean
  readonly wide?: boolean
  readonly onSubmit: () => Promise<unknown>
  readonly onClose: () => void
  readonly children: ReactNode | ((fieldErrors: Readonly<Record<string, string>>) => ReactNode)
}) => {
  const act = useAct()
  return (
    <Dialog title={title} onClose={onClose} wide={wide}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void act.run(onSubmit)
        }}
      >
        {typeof children === 'function' ? children(act.fieldErrors) : children}
        <Failure error={act.error} />
        <div className="flex flex-row-reverse flex-wrap justify-start gap-2">
          <Button
            type="submit"
            tone={danger ? 'danger' : 'primary'}
            busy={act.busy}
            disabled={disabled}
          >
            {submit}
          </Button>
          <Button onClick={onClose}>{common.cancel}</Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Asks before what cannot be undone: the name is typed, so that no slip of the hand does it. */
export const ConfirmName = ({
  title,
  name,
  submit,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string
  readonly name: string
  readonly submit: string
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
  readonly children: ReactNode
}) => {
  const [typed, setTyped] = useState('')
  return (
    <FormDialog
      title={title}
      submit={submit}
      danger
      disabled={typed !== name}
      onSubmit={onConfirm}
      onClose={onClose}
    >
      <div>{children}</div>
      <TextField
        label={common.typeName(name)}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        autoComplete="off"
        spellCheck={false}
      />
    </FormDialog>
  )
}
