import type { DoubleQuotedChild, Word, WordPart } from 'unbash'

const isText = (part: WordPart | DoubleQuotedChild): boolean =>
  part.type === 'Literal' ||
  part.type === 'SingleQuoted' ||
  part.type === 'AnsiCQuoted' ||
  (part.type === 'DoubleQuoted' && part.parts.every(isText))

/** Characters that a shell works out, without quotes around it: `~`, zsh's `=program`, patterns, lists. */
const workedOut = /^[~=]|[$`*?[\]{}()<>^#!]|[:=]~/

/** @SECURITY The word as the program gets it; null where the shell makes it from something else;
 * read-shell.test.ts. */
export const literal = ({ text, value, parts }: Word): string | null => {
  if (value.includes('\0')) return null
  // Escapes are rare, and few of their rules are worth knowing.
  if (!parts) return workedOut.test(text) || text.includes('\\') ? null : value
  if (!parts.every(isText)) return null
  const bare = parts.flatMap((part) => (part.type === 'Literal' ? [part.text] : []))
  return bare.some((piece) => workedOut.test(piece) || piece.includes('\\')) || text.startsWith('~')
    ? null
    : value
}
