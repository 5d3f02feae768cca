import type { PolicyProblem } from '@gatehouse/contract'
import { type Ref, useEffect, useImperativeHandle, useRef } from 'react'
import { createEditor, type EditorHandle } from './create-editor.ts'

type Props = {
  readonly ref: Ref<Pick<EditorHandle, 'goTo'>>
  readonly text: string
  readonly label: string
  /** The line that is shown first; 0 for the beginning. */
  readonly line: number
  readonly onChange: (text: string) => void
  readonly check: (text: string) => Promise<readonly PolicyProblem[]>
  readonly names: readonly string[]
}

/** The editor of one file. Loaded by itself: it is larger than all else on the page. */
export const Editor = (props: Props) => {
  const { text, line, ref } = props
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<EditorHandle>(null)
  const latest = useRef(props)
  useEffect(() => {
    latest.current = props
  })
  useEffect(() => {
    if (!host.current) return undefined
    const { text: first, label } = latest.current
    const made = createEditor({
      host: host.current,
      text: first,
      label,
      onChange: (next) => latest.current.onChange(next),
      check: (next) => latest.current.check(next),
      names: () => latest.current.names,
    })
    editor.current = made
    return () => {
      editor.current = null
      made.destroy()
    }
  }, [])
  useEffect(() => editor.current?.show(text), [text])
  useEffect(() => {
    if (line > 0) editor.current?.goTo(line, 1)
  }, [line])
  useImperativeHandle(ref, () => ({ goTo: (...place) => editor.current?.goTo(...place) }), [])
  return <div ref={host} data-editor className="min-w-0" />
}
