import { autocompletion, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { type Diagnostic, linter, lintKeymap } from '@codemirror/lint'
import { Annotation, EditorState } from '@codemirror/state'
import {
  drawSelection,
  EditorView,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import type { PolicyProblem } from '@gatehouse/contract'
import { completePolicy } from './completion.ts'
import { colours, look } from './editor-look.ts'

export type EditorHandle = {
  /** Puts another text in, if it is another. */
  readonly show: (text: string) => void
  readonly goTo: (line: number, column: number) => void
  readonly destroy: () => void
}

type Options = {
  readonly host: HTMLElement
  readonly text: string
  readonly label: string
  readonly onChange: (text: string) => void
  /** Asked when nobody has typed for a moment. */
  readonly check: (text: string) => Promise<readonly PolicyProblem[]>
  readonly names: () => readonly string[]
}

const quietMs = 400
/** Puts in what the service has: no change of the person. */
const shown = Annotation.define<boolean>()

const offsetOf = ({ doc }: EditorState, line: number, column: number): number => {
  const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines))
  return Math.min(from + Math.max(column, 1) - 1, to)
}

const diagnosticOf = (
  state: EditorState,
  { line, column, message, severity }: PolicyProblem,
): Diagnostic => {
  const from = offsetOf(state, line, column)
  return { from, to: Math.max(from, state.doc.lineAt(from).to), severity, message }
}

/**
 * Typing over a selection: the browser would keep the colours of what it replaces in a style attribute, which
 * the page's policy refuses.
 */
const typeOver = EditorView.domEventHandlers({
  beforeinput: ({ inputType, data }, view) => {
    if (inputType !== 'insertText' || data === null) return false
    if (view.composing || view.state.selection.main.empty) return false
    view.dispatch(view.state.replaceSelection(data), {
      userEvent: 'input.type',
      scrollIntoView: true,
    })
    return true
  },
})

/**
 * A CodeMirror in a shadow root: there its style sheets are adopted, while the style elements that it adds to
 * a page are refused by the page's policy.
 */
export function createEditor(options: Options): EditorHandle {
  const { host, text, label, onChange, check, names } = options
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        highlightActiveLineGutter(),
        drawSelection(),
        history(),
        yaml(),
        colours,
        look,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
        typeOver,
        autocompletion({ override: [completePolicy(names)], icons: false }),
        linter(
          async ({ state }) => {
            const problems = await check(state.doc.toString())
            return problems.map((problem) => diagnosticOf(state, problem))
          },
          { delay: quietMs },
        ),
        keymap.of([...completionKeymap, ...lintKeymap, ...historyKeymap, ...defaultKeymap]),
        EditorView.updateListener.of(({ docChanged, state, transactions }) => {
          if (docChanged && !transactions.some((one) => one.annotation(shown)))
            onChange(state.doc.toString())
        }),
      ],
    }),
  })
  return {
    show: (next) => {
      if (next === view.state.doc.toString()) return
      view.dispatch({
        changes: { from: 0, to: view.state.doc.length, insert: next },
        annotations: shown.of(true),
      })
    },
    goTo: (line, column) => {
      const at = offsetOf(view.state, line, column)
      view.dispatch({
        selection: { anchor: at },
        effects: EditorView.scrollIntoView(at, { y: 'center' }),
      })
      view.focus()
    },
    destroy: () => view.destroy(),
  }
}
