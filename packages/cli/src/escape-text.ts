/**
 * Characters that a terminal would obey or a reader could not see: controls, bidirectional marks, zero-width
 * and other invisible characters, unusual spaces, halves of surrogate pairs.
 */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const escapeOne = (character: string): string =>
  short[character] ?? `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`

/**
 * Text from data, made safe to print on one line.
 * @SECURITY A name or an argument must not move the cursor or hide a word; escape-text.test.ts.
 */
export const escapeText = (text: string): string => text.replace(unseen, escapeOne)

/** The same for text of several lines: line breaks and tabs stay. */
export const escapeLines = (text: string): string =>
  text.replace(unseen, (character) =>
    character === '\n' || character === '\t' ? character : escapeOne(character),
  )

/** JSON whose text shows every hidden character as an escape, and which parses to the same value. */
export function jsonText(value: unknown, indent = 2): string {
  const text = JSON.stringify(value, null, indent) ?? 'null'
  // Line breaks here are layout: those inside strings are escaped already.
  return text.replace(unseen, (character) =>
    character === '\n'
      ? character
      : [...Array(character.length).keys()]
          .map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`)
          .join(''),
  )
}

const scripts = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee'].map((name) => ({
  name,
  pattern: new RegExp(`\\p{Script=${name}}`, 'u'),
}))

/** Words that mix scripts whose letters look alike, such as a Cyrillic `а` in a Latin word. */
export function mixedScriptWords(text: string): { word: string; scripts: string[] }[] {
  return (text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).flatMap((word) => {
    const found = scripts.filter(({ pattern }) => pattern.test(word)).map(({ name }) => name)
    return found.length > 1 ? [{ word, scripts: found }] : []
  })
}
