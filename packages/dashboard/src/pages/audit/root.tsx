import type { AuditEntry, SignedRoot } from '@gatehouse/contract'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useRead } from '../../api.ts'
import { auditText as text } from '../../messages/audit.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { numberText } from '../../ui/numbers.ts'
import { Facts } from '../../ui/page.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { Visible } from '../../ui/visible.tsx'

/** Signed note over a root, as `--checkpoint` takes it. */
const noteIn = ({ detail }: AuditEntry): string => {
  const note = detail?.['note']
  return typeof note === 'string' ? note : ''
}

const Note = ({ note }: { readonly note: string }) => (
  <div className="flex flex-wrap gap-2">
    <CopyButton text={note} label={text.copyNote} />
    <Button
      onClick={() => saveFile('gatehouse-root.txt', new Blob([note], { type: 'text/plain' }))}
    >
      {text.saveNote}
    </Button>
  </div>
)

const NoteOf = ({ id }: { readonly id: string }) => (
  <Loaded query={useRead('showAuditEntry', { id })}>
    {(entry) => <Note note={noteIn(entry)} />}
  </Loaded>
)

/** The newest root over all logs, with which they were just compared: a line above the list, which opens for a witness. */
export const RootCard = ({ root }: { readonly root: SignedRoot }) => {
  const { entry: id, logs, signed_at, chain } = root
  const [open, setOpen] = useState(false)
  return (
    <section className="card mb-4" aria-label={text.root}>
      <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="px-4 py-2.5">
          <h2 className="inline font-medium">{text.root}</h2>{' '}
          <span className="text-ink-soft">{text.rootHolds(logs, numberText(logs))}</span>
        </summary>
        {open && (
          <div className="grid gap-3 px-4 pb-4">
            <p className="text-ink-soft">{text.rootHint}</p>
            <Facts
              items={[
                [text.rootSigned, <Time key="at" at={signed_at} />],
                [
                  text.rootBy,
                  <Link key="by" to="/audit/$id" params={{ id }} className="mono underline">
                    <Visible text={chain} />
                  </Link>,
                ],
                [
                  text.rootHash,
                  <span key="hash" className="mono">
                    {root.root}
                  </span>,
                ],
              ]}
            />
            <NoteOf id={id} />
          </div>
        )}
      </details>
    </section>
  )
}
