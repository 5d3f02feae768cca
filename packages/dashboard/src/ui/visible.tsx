import type { ReactNode } from 'react'
import { common } from '../messages/common.ts'

/** Controls, marks that change the direction of writing, and what takes no room. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\u115f\u1160\u3164\uffa0]/u

const codeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** Text in pieces: what can be seen, and the codes of what cannot. Line ends and tabs stay where `lines` says so. */
export function piecesOf(text: string, lines: boolean): readonly { text: string; code: boolean }[] {
  const pieces: { text: string; code: boolean }[] = []
  let plain = ''
  for (const character of text) {
    if (!hidden.test(character) || (lines && (character === '\n' || character === '\t'))) {
      plain += character
      continue
    }
    if (plain !== '') pieces.push({ text: plain, code: false })
    plain = ''
    pieces.push({ text: codeOf(character), code: true })
  }
  if (plain !== '') pieces.push({ text: plain, code: false })
  return pieces
}

/** The same as a plain text, for places that take nothing else: a label, an option. */
export const shownText = (text: string): string =>
  piecesOf(text, false)
    .map((piece) => piece.text)
    .join('')

/** Text that an agent or the outside wrote, with what nobody could see made visible. */
export const Visible = ({
  text,
  lines = false,
}: {
  readonly text: string
  readonly lines?: boolean
}): ReactNode => {
  if (!hidden.test(text)) return text
  return piecesOf(text, lines).map((piece, at) =>
    piece.code ? (
      <span
        // Pieces have no identity but their place.
        key={`${at}`}
        className="mono mx-px rounded bg-warn-soft px-1 text-[0.75em] text-warn"
        title={common.hiddenCharacter}
      >
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  )
}

/** Alphabets that look alike: a word that mixes them may pretend to be another. */
const alphabets = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u]

/** Words of more than one of the alphabets that look alike. */
export const mixedWordsIn = (text: string): readonly string[] => [
  ...new Set(
    (text.match(/[\p{L}\p{N}._@-]+/gu) ?? []).filter(
      (word) => alphabets.filter((alphabet) => alphabet.test(word)).length > 1,
    ),
  ),
]

export const hasHidden = (text: string): boolean => hidden.test(text.replaceAll(/[\n\t\r]/g, ''))
