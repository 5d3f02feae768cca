import { autocompletion, type Completion, completeFromList } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { EditorState } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import type { PolicyProblem } from '@gatehouse/contract'
import { tags } from '@lezer/highlight'
import { useEffect, useRef } from 'react'

const look = EditorView.theme({
  '&': {
    color: 'var(--color-ink)',
    backgroundColor: 'var(--color-raised)',
    fontSize: '14px',
    maxHeight: '65vh',
  },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', minHeight: '18rem' },
  '.cm-content': { caretColor: 'var(--color-ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--color-ink)' },
  '.cm-gutters': {
    color: 'var(--color-ink-soft)',
    backgroundColor: 'var(--color-sunken)',
    border: 'none',
  },
  '&.cm-focused': { outline: '2px solid var(--color-accent)', outlineOffset: '1px' },
  '.cm-content ::selection, .cm-selectionBackground': {
    backgroundColor: 'var(--color-accent-soft) !important',
  },
  '.cm-tooltip': {
    color: 'var(--color-ink)',
    backgroundColor: 'var(--color-raised)',
    border: '1px solid var(--color-line-strong)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    color: 'var(--color-on-accent)',
    backgroundColor: 'var(--color-accent)',
  },
})

/** The colours of the page, which are readable in both themes. */
const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--color-accent-strong)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--color-good)' },
  { tag: tags.comment, color: 'var(--color-ink-soft)', fontStyle: 'italic' },
  { tag: [tags.punctuation, tags.separator], color: 'var(--color-ink-soft)' },
])

/** Keys and values of the language, and the names that rules speak of. */
const words = [
  'version',
  'rules',
  'limits',
  'tests',
  'tools',
  'match',
  'when',
  'tier',
  'notify',
  'reason',
  'floor',
  'critical',
  'network',
  'limit',
  'window',
  'capability',
  'agent',
  'args',
  'expect',
  'autonomous',
  'approval_required',
  'blocked',
]

const placeOf = (state: EditorState, { line, column }: PolicyProblem): number => {
  const at = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines))
  return Math.min(at.from + Math.max(column - 1, 0), at.to)
}

const diagnosticOf = (state: EditorState, problem: PolicyProblem): Diagnostic => {
  const from = placeOf(state, problem)
  const { to } = state.doc.lineAt(from)
  return { from, to, severity: problem.severity, message: problem.message }
}

export type Editor = { readonly goTo: (problem: PolicyProblem) => void }

/**
 * CodeMirror in a shadow root: there it uses style sheets of its own, which the page's policy allows, and in
 * the page it would write elements, which it refuses. Tab leaves it, as it leaves any field.
 */
export const CodeEditor = ({
  label,
  text,
  names,
  problems,
  onChange,
  onReady,
}: {
  readonly label: string
  /** The text it begins with; another one needs another `key`. */
  readonly text: string
  readonly names: readonly string[]
  readonly problems: readonly PolicyProblem[]
  readonly onChange: (text: string) => void
  readonly onReady: (editor: Editor) => void
}) => {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  const first = useRef({ text, names, onChange, onReady, label })
  useEffect(() => {
    first.current = { ...first.current, onChange }
  })
  useEffect(() => {
    const element = host.current
    if (!element) return undefined
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' })
    const options: Completion[] = [...words, ...first.current.names].map((one) => ({ label: one }))
    const made = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.current.text,
        extensions: [
          lineNumbers(),
          history(),
          yaml(),
          syntaxHighlighting(colours),
          lintGutter(),
          autocompletion({ override: [completeFromList(options)] }),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          look,
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': first.current.label }),
          EditorView.updateListener.of(({ docChanged, state }) => {
            if (docChanged) first.current.onChange(state.doc.toString())
          }),
        ],
      }),
    })
    view.current = made
    first.current.onReady({
      goTo: (problem) => {
        made.dispatch({ selection: { anchor: placeOf(made.state, problem) }, scrollIntoView: true })
        made.focus()
      },
    })
    return () => made.destroy()
  }, [])
  useEffect(() => {
    const made = view.current
    if (!made) return
    const found = problems.map((problem) => diagnosticOf(made.state, problem))
    made.dispatch(setDiagnostics(made.state, found))
  }, [problems])
  return <div ref={host} className="overflow-hidden rounded-lg border border-line-strong" />
}
