import type { PolicyView } from '@gatehouse/contract'
import { lazy, Suspense, useRef, useState } from 'react'
import { useRead } from '../../api.ts'
import { common } from '../../messages/common.ts'
import { policyText as text } from '../../messages/policy.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Failure, Notice } from '../../ui/notice.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import {
  type Draft,
  dropDraft,
  isBeingSaved,
  keepDraft,
  type Place,
  placeOf,
  useDrafts,
} from './drafts.ts'
import { Problems } from './problems.tsx'
import { ReadyDialog } from './ready-dialog.tsx'
import { noFile, SaveDialog, type Standing } from './save-dialog.tsx'
import { type Check, useCheck } from './use-check.ts'

const Editor = lazy(async () => ({ default: (await import('./editor.tsx')).Editor }))

const example = `version: 1
rules:
  - match: filesystem.delete
    tier: approval_required
    reason: A person looks before something is deleted
`

const Verdict = ({ check }: { readonly check: Check }) => {
  if (check.kind === 'failed')
    return (
      <>
        <p className="text-bad">{text.checkFailed}</p>
        <Failure error={check.error} />
      </>
    )
  if (check.kind === 'checking') return <p className="text-ink-soft">{text.checking}</p>
  const { valid, rules, tests_passed, problems } = check.verdict
  const errors = problems.filter(({ severity }) => severity === 'error').length
  return valid ? (
    <p className="text-good">{text.valid(rules, tests_passed)}</p>
  ) : (
    <p className="text-bad">{text.invalid(errors)}</p>
  )
}

type GoTo = (line: number, column: number) => void

/** Verdict of the service on the text; a problem leads to its place. */
const Checked = ({
  check,
  isDraft,
  isNew,
  goTo,
}: {
  readonly check: Check
  readonly isDraft: boolean
  /** The file does not exist yet. */
  readonly isNew: boolean
  readonly goTo: GoTo
}) => (
  <>
    <div role="status" className="grid grid-cols-1 gap-1">
      {(isDraft || !isNew) && (
        <p className="text-ink-soft">{isDraft ? text.changedFile : text.unchanged}</p>
      )}
      <Verdict check={check} />
    </div>
    {check.kind === 'checked' && check.verdict.problems.length > 0 && (
      <Problems
        problems={check.verdict.problems}
        placeOf={({ line, column }) => text.position(line, column)}
        wayTo={({ line, column }) =>
          () =>
            goTo(line, column)
          }
      />
    )}
  </>
)

/** A draft goes at once, and comes back as long as it is offered. */
function discard(draft: Draft): void {
  dropDraft(draft.file)
  announce(text.discarded(draft.file), () => Promise.resolve(keepDraft(draft)))
}

/** The text of one file: as it stands, or as a draft. */
const FileEditor = ({
  place,
  standing,
  names,
  line,
}: {
  readonly place: Place
  readonly standing: Standing
  readonly names: readonly string[]
  readonly line: number
}) => {
  const { file } = place
  const draft = useDrafts()[file]
  const mayWrite = useMay('policies.manage')
  const { check, begin, run } = useCheck(place)
  const [open, setOpen] = useState<'save' | 'ready' | null>(null)
  const editor = useRef<{ readonly goTo: GoTo }>(null)
  const isNew = standing.version === noFile.version
  const before = isNew ? example : standing.text
  const typed = draft?.text ?? before
  const close = () => setOpen(null)
  const goTo: GoTo = (...at) => editor.current?.goTo(...at)
  const change = (next: string) => {
    begin()
    if (next === before && !isBeingSaved(file)) dropDraft(file)
    else keepDraft({ ...place, text: next, version: draft?.version ?? standing.version })
  }
  /** The text is checked once more: what was said of it may be older than it, or than the other files. */
  const review = async () => {
    const [first] = (await run(typed)).filter(({ severity }) => severity === 'error')
    if (first) goTo(first.line, first.column)
    else setOpen('save')
  }
  return (
    <div className="grid grid-cols-1 gap-3">
      {isNew && <Notice>{text.newFile(file)}</Notice>}
      {draft && draft.version !== standing.version && (
        <Notice tone="warn">{text.keepTyping}</Notice>
      )}
      <Suspense fallback={<p>{common.loading}</p>}>
        <Editor
          ref={editor}
          text={typed}
          label={text.editor(file)}
          line={line}
          onChange={change}
          check={run}
          names={names}
        />
      </Suspense>
      <p className="text-[0.867rem] text-ink-soft">{text.editorKeys}</p>
      <Checked check={check} isDraft={draft !== undefined} isNew={isNew} goTo={goTo} />
      <div className="flex flex-wrap gap-2">
        {mayWrite ? (
          <Button tone="primary" disabled={!draft && !isNew} onClick={() => void review()}>
            {text.save}
          </Button>
        ) : (
          <p className="text-ink-soft">{text.mayNotSave}</p>
        )}
        {mayWrite && <Button onClick={() => setOpen('ready')}>{text.ready}</Button>}
        {draft && <Button onClick={() => discard(draft)}>{text.discard}</Button>}
      </div>
      {open === 'save' && (
        <SaveDialog
          draft={draft ?? { ...place, text: typed, version: standing.version }}
          standing={standing}
          onClose={close}
        />
      )}
      {open === 'ready' && (
        <ReadyDialog
          place={place}
          isOver={draft !== undefined}
          onUse={(next) => {
            change(next)
            setOpen('save')
          }}
          onClose={close}
        />
      )}
    </div>
  )
}

/** Chooses the file of the organisation or of an agent, and edits it. */
export const Edit = ({
  view: { files },
  names,
}: {
  readonly view: PolicyView
  readonly names: readonly string[]
}) => {
  const [{ file: agent, line }, change] = useFilters({ file: '', line: '' })
  const drafts = useDrafts()
  const agents = useRead('listAgents').data?.agents ?? []
  const known = new Set([
    ...agents.map(({ name }) => name),
    ...files.flatMap((one) => one.agent ?? []),
    ...(agent === '' ? [] : [agent]),
  ])
  const place = placeOf(agent)
  return (
    <div className="grid grid-cols-1 gap-3">
      <SelectField
        label={text.file}
        className="sm:max-w-80"
        value={agent}
        onChange={({ target }) => change({ file: target.value, line: '' })}
        options={['', ...known].map((value) => {
          const { file } = placeOf(value)
          return { value, text: text.fileOf(file, file in drafts) }
        })}
      />
      <FileEditor
        key={place.file}
        place={place}
        standing={files.find(({ file }) => file === place.file) ?? noFile}
        names={names}
        line={Number(line)}
      />
    </div>
  )
}
