import { createTwoFilesPatch } from 'diff'
import { green, red } from '../colour.ts'
import { escapeText } from '../escape-text.ts'

/** No lines around a change: a configuration often has secrets of other servers beside it. */
const contextLines = 0

/** Change of a file as a unified diff; empty where there is none. */
export function diffOf(file: string, before: string, after: string): string {
  if (before === after) return ''
  const options = { context: contextLines }
  const patch = createTwoFilesPatch(file, file, before, after, undefined, undefined, options)
  return patch.slice(patch.indexOf('---')).trimEnd()
}

export const paintDiff = (diff: string, coloured: boolean): string =>
  diff
    .split('\n')
    .map((line) => escapeText(line.replaceAll('\t', '  ')))
    .map((line) => {
      if (line.startsWith('+')) return green(line, coloured)
      return line.startsWith('-') ? red(line, coloured) : line
    })
    .join('\n')
