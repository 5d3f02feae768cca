import type { BlameLine } from '../ports/git.ts'
import { textOf } from './fields.ts'

const nowhere = /^0+$/

/** Reads `git blame --line-porcelain`: a header for each line, then a tab and the line itself. */
export const parseBlame = (output: Uint8Array): readonly BlameLine[] => {
  const lines: BlameLine[] = []
  let commit = ''
  let line = 0
  let facts = new Map<string, string>()
  for (const row of textOf(output).split('\n')) {
    if (row.startsWith('\t')) {
      const seconds = Number(facts.get('author-time') ?? 0)
      lines.push({
        line,
        content: row.slice(1),
        commit: nowhere.test(commit) ? null : commit,
        author_name: facts.get('author') ?? '',
        authored_at: new Date(Math.min(seconds, 253_402_300_799) * 1000).toISOString(),
        summary: facts.get('summary') ?? '',
      })
      facts = new Map()
      continue
    }
    const start = /^([0-9a-f]{40,64}) \d+ (\d+)/.exec(row)
    if (start) {
      commit = start[1] as string
      line = Number(start[2])
      continue
    }
    const space = row.indexOf(' ')
    if (space > 0) facts.set(row.slice(0, space), row.slice(space + 1))
  }
  return lines
}
