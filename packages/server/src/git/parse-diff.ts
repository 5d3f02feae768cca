import type { FileDiff } from '../ports/git.ts'
import { fieldsOf, repoPath, textOf } from './fields.ts'
import { kindOf } from './parse-status.ts'

const numberOrNull = (text: string): number | null => (text === '-' ? null : Number(text))

type Counts = { readonly additions: number | null; readonly deletions: number | null }

/** Reads `git diff --raw --numstat -z`: first a record for each file, then its counts, by the same name. */
export const parseDiff = (output: Uint8Array): readonly FileDiff[] => {
  const fields = fieldsOf(output)
  const found = new Map<string, { readonly bytes: Buffer; readonly old?: Buffer; letter: string }>()
  const counts = new Map<string, Counts>()
  let i = 0
  for (; fields[i]?.[0] === 0x3a; i++) {
    const letter =
      textOf(fields[i] as Buffer)
        .split(' ')[4]
        ?.charAt(0) ?? 'M'
    const first = fields[++i] as Buffer
    const isMoved = letter === 'R' || letter === 'C'
    const bytes = isMoved ? (fields[++i] as Buffer) : first
    const key = bytes.toString('latin1')
    // An unmerged file has a record for its stages and one for the work tree.
    if (found.get(key)?.letter === 'U') continue
    found.set(key, { bytes, letter, ...(isMoved ? { old: first } : {}) })
  }
  for (; i < fields.length; i++) {
    const record = fields[i] as Buffer
    const afterAdded = record.indexOf(0x09)
    const afterDeleted = record.indexOf(0x09, afterAdded + 1)
    if (afterAdded < 0 || afterDeleted < 0) continue
    const inline = record.subarray(afterDeleted + 1)
    // Of a renamed file the old and the new name follow as fields of their own.
    const bytes = inline.length > 0 ? inline : (fields[(i += 2)] as Buffer)
    counts.set(bytes.toString('latin1'), {
      additions: numberOrNull(record.toString('latin1', 0, afterAdded)),
      deletions: numberOrNull(record.toString('latin1', afterAdded + 1, afterDeleted)),
    })
  }
  return [...found].map(([key, { bytes, old, letter }]) => ({
    ...repoPath(bytes),
    status: kindOf(letter),
    ...(old ? { old_path: textOf(old) } : {}),
    ...(counts.get(key) ?? { additions: 0, deletions: 0 }),
  }))
}

export const totalsOf = (files: readonly FileDiff[]) => ({
  files: files.length,
  additions: files.reduce((sum, { additions }) => sum + (additions ?? 0), 0),
  deletions: files.reduce((sum, { deletions }) => sum + (deletions ?? 0), 0),
})
