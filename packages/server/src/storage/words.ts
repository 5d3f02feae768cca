import type { ReplicaQuery } from '../ports/replica.ts'

const wordCharsMax = 64
/** Scripts that put no space between words: each character is a word, and a run of them is a phrase. */
const unspaced = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Thai}/u
const wordsOrCharacters = new RegExp(`${unspaced.source}|[\\p{L}\\p{N}]+`, 'gu')

const split = (run: string): string[] => {
  if (!unspaced.test(run)) return [run.slice(0, wordCharsMax)]
  const found: string[] = []
  let word = ''
  const end = () => {
    if (word) found.push(word.slice(0, wordCharsMax))
    word = ''
  }
  for (const char of run) {
    if (!unspaced.test(char)) {
      word += char
      continue
    }
    end()
    found.push(char)
  }
  end()
  return found
}

/**
 * The words of a text as every engine indexes and asks for them: lower case, without accents. Made here,
 * because what the engines take for a word differs.
 */
export const wordsOf = (text: string): string[] =>
  (text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().match(wordsOrCharacters) ?? [])
    .flatMap(split)
    .filter((word) => word !== '')

/** Words that stand one after another; the last one may go on, unless it was put in quotes. */
export type Phrase = { readonly words: readonly string[]; readonly prefix: boolean }

const terms = /"([^"]*)"?|([^\s"]+)/g

export const phrasesOf = (query: string): Phrase[] =>
  [...query.matchAll(terms)]
    .map(([, quoted, bare]) => ({
      words: wordsOf(quoted ?? bare ?? ''),
      prefix: bare !== undefined,
    }))
    .filter(({ words }) => words.length > 0)

export type SearchColumn = 'title' | 'sender' | 'text'

/** Phrases that must all be there; in any column for null. */
export type Search = readonly { readonly phrase: Phrase; readonly column: SearchColumn | null }[]

/** Null: nothing was asked for. `impossible`: what was asked for holds no word, so nothing can match. */
export const searchOf = ({
  words,
  from,
  title,
}: Pick<ReplicaQuery, 'words' | 'from' | 'title'>): Search | 'impossible' | null => {
  const asked = [
    { query: words, column: null },
    { query: from, column: 'sender' },
    { query: title, column: 'title' },
  ] as const
  const all: Search[number][] = []
  for (const { query, column } of asked) {
    if (query === undefined || query.trim() === '') continue
    const phrases = phrasesOf(query)
    if (phrases.length === 0) return 'impossible'
    for (const phrase of phrases) all.push({ phrase, column })
  }
  return all.length === 0 ? null : all
}
