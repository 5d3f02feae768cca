import type { RE2JS } from 're2js'

export type LineMatch = {
  readonly line: number
  readonly start: number
  readonly end: number
  /** The first group, where the pattern has one that took part. */
  readonly group: string | null
}

/** Stands for itself: it runs in a worker too, from its text, so it uses nothing from outside. */
export const findInLines = (regex: RE2JS, lines: readonly string[], max: number): LineMatch[] => {
  const found: LineMatch[] = []
  const matcher = regex.matcher('')
  for (let line = 0; line < lines.length; line++) {
    matcher.resetMatcherInput(lines[line] ?? '')
    while (matcher.find()) {
      const group = matcher.groupCount() > 0 ? matcher.group(1) : null
      found.push({ line, start: matcher.start(), end: matcher.end(), group })
      if (found.length >= max) return found
    }
  }
  return found
}

/** Stands for itself, too. `$1`, `$&` and `$<name>` in the replacement have JavaScript's meaning. */
export const replaceIn = (
  regex: RE2JS,
  text: string,
  replacement: string,
): { readonly text: string; readonly count: number } => {
  let count = 0
  const matcher = regex.matcher(text)
  while (matcher.find()) count++
  return { count, text: count === 0 ? text : regex.matcher(text).replaceAll(replacement) }
}
