import { GatehouseError } from '@gatehouse/contract'

export const globCharsMax = 256

export interface Glob {
  /** Whether a path relative to where the search began matches. */
  matches(path: string): boolean
}

type Chars = string | readonly string[]

/** One element a code point, so that `?` stands for a whole character. */
const charsOf = (text: string): Chars => (/[\ud800-\udfff]/.test(text) ? Array.from(text) : text)

/**
 * Both levels of a glob are the same problem: a row of elements, some of which stand for any number of
 * others. Only the last such element is ever tried again, so the work is at most length times length;
 * backtracking matchers need minutes for `*a*a*a*a*b`.
 */
const matchRow = (
  pattern: Chars,
  row: Chars,
  isAny: (p: string) => boolean,
  fits: (p: string, r: string) => boolean,
): boolean => {
  let p = 0
  let r = 0
  let lastAny = -1
  let retryAt = 0
  while (r < row.length) {
    const element = pattern[p]
    if (element !== undefined && isAny(element)) {
      lastAny = p++
      retryAt = r
    } else if (element !== undefined && fits(element, row[r] as string)) {
      p++
      r++
    } else if (lastAny >= 0) {
      p = lastAny + 1
      r = ++retryAt
    } else return false
  }
  while (p < pattern.length && isAny(pattern[p] as string)) p++
  return p === pattern.length
}

const isStar = (c: string): boolean => c === '*'
const fitsChar = (p: string, c: string): boolean => p === '?' || p === c
const isGlobstar = (segment: string): boolean => segment === '**'
const fitsSegment = (pattern: string, segment: string): boolean =>
  pattern === segment || matchRow(charsOf(pattern), charsOf(segment), isStar, fitsChar)

/**
 * `*` is anything but `/`, `?` one character, `**` as a whole segment any number of folders. A pattern
 * without `/` is compared with the last name alone, at any depth. Everything else stands for itself,
 * except that `{a,b}` is refused: it would silently find nothing.
 */
export const parseGlob = (pattern: string): Glob => {
  const refuse = (detail: string): GatehouseError =>
    new GatehouseError('InvalidPattern', { detail })
  if (pattern === '') throw refuse('it is empty')
  if (pattern.length > globCharsMax) throw refuse(`it has more than ${globCharsMax} characters`)
  if (pattern.includes('\0')) throw refuse('it holds a NUL')
  if (/\{[^{}]*(,|\.\.)/.test(pattern)) {
    throw refuse('braces are not supported; use *, ? and **, and one call for each alternative')
  }
  const segments = pattern.split('/').filter((s, i, all) => {
    if (s === '' || s === '.') return false
    return !(isGlobstar(s) && all[i - 1] === '**')
  })
  if (segments.length === 0) throw refuse('it names nothing')
  const anyDepth = !pattern.includes('/') && !isGlobstar(pattern)
  return {
    matches: (path) =>
      anyDepth
        ? fitsSegment(pattern, path.slice(path.lastIndexOf('/') + 1))
        : matchRow(segments, path.split('/'), isGlobstar, fitsSegment),
  }
}
