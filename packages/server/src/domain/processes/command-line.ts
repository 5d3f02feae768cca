const plain = /^[\w@%+=:,./-]+$/
/** Control, format, separator and private characters, and half surrogates: nothing of it is seen by a person. */
const unseen = /[\p{C}\p{Zl}\p{Zp}]|[^\P{Zs} ]/gu

const escaped = (char: string): string => {
  if (char === '\n') return '\\n'
  if (char === '\t') return '\\t'
  const code = char.codePointAt(0) ?? 0
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
  return code > 0xffff
    ? `\\U${code.toString(16).padStart(8, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`
}

/** One argument as a shell would need it, so that its ends and every character of it are seen. */
const quoted = (word: string): string => {
  if (plain.test(word)) return word
  unseen.lastIndex = 0
  if (!unseen.test(word)) return `'${word.replaceAll("'", "'\\''")}'`
  const body = word.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replace(unseen, escaped)
  return `$'${body}'`
}

/** An argument vector for people: unambiguous, on one line, and never run. */
export const commandLine = (words: readonly string[]): string => words.map(quoted).join(' ')
