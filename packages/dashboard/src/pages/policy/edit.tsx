import type { PolicyProblem, PolicyVerdict, PolicyView } from '@gatehouse/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useDeferredValue, useRef, useState } from 'react'
import { api, codeOf, queryClient, useRead } from '../../api.ts'
import { common } from '../../messages/common.ts'
import { policyText as text } from '../../messages/policy.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { Diff } from '../../ui/code.tsx'
import { SelectField } from '../../ui/field.tsx'
import { Filters } from '../../ui/filters.tsx'
import { lineDiff } from '../../ui/line-diff.ts'
import { Failure, Notice } from '../../ui/notice.tsx'
import { announce } from '../../ui/toasts.tsx'
import { useAct } from '../../ui/use-act.ts'
import { useFilters } from '../../ui/use-filters.ts'
import type { Editor } from './code-editor.tsx'
import { Problems } from './problems.tsx'
import { type Draft, setDraft, useDraft } from './use-draft.ts'

const CodeEditor = lazy(() =>
  import('./code-editor.tsx').then((module) => ({ default: module.CodeEditor })),
)

const fileOf = (view: PolicyView, agent: string) =>
  view.files.find((file) => (agent === '' ? file.layer === 'organisation' : file.agent === agent))

const beginFrom = (view: PolicyView, agent: string): Draft => {
  const file = fileOf(view, agent)
  return { agent, text: file?.text ?? '', basis: file?.text ?? '', version: file?.version ?? '' }
}

/** The text as the service judges it, a moment after the last key. */
const useVerdict = (draft: Draft) => {
  const checked = useDeferredValue(draft.text)
  return useQuery<PolicyVerdict>({
    queryKey: ['validatePolicy', draft.agent, checked],
    queryFn: async ({ signal }) => {
      // Keys follow each other quickly; only the last text is sent.
      await new Promise((resolve) => setTimeout(resolve, 300))
      signal.throwIfAborted()
      return api.validatePolicy({
        text: checked,
        ...(draft.agent === '' ? {} : { agent: draft.agent }),
      })
    },
    placeholderData: keepPreviousData,
    retry: false,
  })
}

const save = ({ agent, text: written, version }: Draft) => {
  const match = version === '' ? {} : { if_match: version }
  return agent === ''
    ? api.saveOrganisationPolicy({ text: written, ...match })
    : api.saveAgentPolicy({ name: agent, text: written, ...match })
}

/** Both texts after somebody else has saved; nothing that was typed is lost. */
const Conflict = ({
  draft,
  theirs,
  onTake,
}: {
  readonly draft: Draft
  readonly theirs: Draft
  readonly onTake: (draft: Draft) => void
}) => (
  <Notice tone="warn" role="alert">
    <p className="mb-2">{text.conflict}</p>
    <Diff text={lineDiff(draft.text, theirs.text)} label={text.difference} />
    <div className="mt-2 flex flex-wrap gap-2">
      <Button onClick={() => onTake(theirs)}>{text.takeTheirs}</Button>
      <Button onClick={() => onTake({ ...theirs, text: draft.text })}>{text.keepMine}</Button>
    </div>
  </Notice>
)

const noProblems: readonly PolicyProblem[] = []

const Editing = ({ view, draft }: { readonly view: PolicyView; readonly draft: Draft }) => {
  const mayWrite = useMay('policies.manage')
  const act = useAct()
  const editor = useRef<Editor>(null)
  const [round, setRound] = useState(0)
  const verdict = useVerdict(draft)
  const problems = verdict.data?.problems ?? noProblems
  const names = [
    ...new Set(view.files.flatMap((file) => file.text.match(/[a-z][\w-]*\.[\w*-]+/g) ?? [])),
  ]
  const changed = draft.text !== draft.basis
  const isConflict = codeOf(act.error) === 'PolicyChanged'
  const take = (next: Draft) => {
    act.clear()
    setDraft(next)
    setRound(round + 1)
  }
  const submit = () =>
    void act.run(async () => {
      try {
        const saved = await save(draft)
        setDraft({ ...draft, basis: draft.text, version: saved.file_version })
        announce(text.saved(saved.version))
      } finally {
        await queryClient.invalidateQueries({ queryKey: ['showPolicies'] })
      }
    })
  return (
    <div className="grid grid-cols-1 gap-3">
      <Suspense fallback={<p role="status">{common.loading}</p>}>
        <CodeEditor
          key={`${draft.agent} ${round} ${draft.version}`}
          label={text.editor}
          text={draft.text}
          names={names}
          problems={problems}
          onChange={(written) => setDraft({ ...draft, text: written })}
          onReady={(made) => {
            editor.current = made
          }}
        />
      </Suspense>
      <p className="text-[0.867rem] text-ink-soft">{text.editorHint}</p>
      <p role="status">
        {!verdict.data
          ? text.checking
          : verdict.data.valid
            ? text.valid(verdict.data.rules, verdict.data.tests_passed)
            : text.problemCount(problems.length)}
      </p>
      {problems.length > 0 && (
        <Problems problems={problems} onGo={(problem) => editor.current?.goTo(problem)} />
      )}
      <Failure error={verdict.error} />
      {isConflict ? (
        <Conflict draft={draft} theirs={beginFrom(view, draft.agent)} onTake={take} />
      ) : (
        <Failure error={act.error} />
      )}
      {changed ? (
        <details>
          <summary className="min-h-6 py-1">{text.showDifference}</summary>
          <Diff text={lineDiff(draft.basis, draft.text)} label={text.difference} />
        </details>
      ) : (
        <p className="text-ink-soft">{text.unchanged}</p>
      )}
      {mayWrite && (
        <div>
          <Button
            tone="primary"
            busy={act.busy}
            disabled={!changed || verdict.data?.valid !== true}
            onClick={submit}
          >
            {text.save}
          </Button>
        </div>
      )}
    </div>
  )
}

/** One file as a text: checked while it is written, tests included, and active as soon as it is saved. */
export const Edit = ({ view }: { readonly view: PolicyView }) => {
  const [{ agent }, change] = useFilters({ agent: '' })
  const agents = useRead('listAgents').data?.agents ?? []
  const kept = useDraft()
  // A text that nobody has changed follows the file.
  const draft = kept?.agent === agent && kept.text !== kept.basis ? kept : beginFrom(view, agent)
  const names = [...new Set([...agents.map(({ name }) => name), ...(agent === '' ? [] : [agent])])]
  return (
    <>
      <Filters>
        <SelectField
          label={text.file}
          value={agent}
          onChange={({ target }) => change({ agent: target.value })}
          options={[
            { value: '', text: text.organisationFile },
            ...names.map((name) => ({ value: name, text: text.agentFile(name) })),
          ]}
        />
      </Filters>
      <Editing key={agent} view={view} draft={draft} />
    </>
  )
}
