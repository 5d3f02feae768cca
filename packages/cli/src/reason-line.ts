import type { Approval } from '@gatehouse/contract'
import { escapeText } from './escape-text.ts'
import { cells } from './table.ts'

export type Decision = 'approve' | 'reject'

/** The reason for a decision while it is typed. */
export type ReasonLine = {
  readonly approval: Approval
  readonly decision: Decision
  readonly text: string
}

type Edited =
  | { readonly kind: 'typing'; readonly line: ReasonLine }
  | { readonly kind: 'back' }
  | { readonly kind: 'entered'; readonly reason: string }

/** The length that the server takes. */
const lengthMax = 2_000
const escape = '\u001b'
const clear = '\u0015'
const backspaces: ReadonlySet<string> = new Set(['\b', '\u007f'])

/** Line after a key. Text pasted behind an Enter is dropped. */
export function editLine(line: ReasonLine, typed: string): Edited {
  if (typed === escape) return { kind: 'back' }
  // An arrow or a function key is no text.
  if (typed.startsWith(escape)) return { kind: 'typing', line }
  let characters = Array.from(line.text)
  for (const key of typed) {
    if (key === '\r' || key === '\n') return { kind: 'entered', reason: characters.join('').trim() }
    if (backspaces.has(key)) characters = characters.slice(0, -1)
    else if (key === clear) characters = []
    else if (!/\p{Cc}/u.test(key) && characters.length < lengthMax) characters.push(key)
  }
  return { kind: 'typing', line: { ...line, text: characters.join('') } }
}

/** The question above the line. */
export const linePrompt = ({ approval, decision }: ReasonLine): string =>
  decision === 'approve'
    ? `Approve and run ${approval.id}?\nReason for the log, or none. Enter approves, Esc goes back.`
    : `Reject ${approval.id}?\nReason for the agent, or none. Enter rejects, Esc goes back.`

/** The end of the line, as much as fits beside the sign before it. */
export function lineText({ text }: ReasonLine, columns: number): string {
  const characters = Array.from(escapeText(text))
  while (cells(characters.join('')) > columns - 3) characters.shift()
  return `> ${characters.join('')}`
}
