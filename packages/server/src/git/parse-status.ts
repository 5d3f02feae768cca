import type { Change, ChangeKind, RepoPath } from '../ports/git.ts'
import { fieldsOf, repoPath, textOf } from './fields.ts'

/** A change with the bytes of its name, which git is given back. */
export type StatusChange = {
  readonly change: Change
  readonly bytes: Buffer
  readonly old?: Buffer
}
export type StatusName = { readonly name: RepoPath; readonly bytes: Buffer }

export type ParsedStatus = {
  readonly head: string | null
  readonly branch: string | null
  readonly upstream: string | null
  readonly ahead: number | null
  readonly behind: number | null
  readonly staged: readonly StatusChange[]
  readonly unstaged: readonly StatusChange[]
  readonly untracked: readonly StatusName[]
  readonly conflicted: readonly StatusName[]
}

const kinds: Readonly<Record<string, ChangeKind>> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type_changed',
  U: 'unmerged',
}

export const kindOf = (letter: string): ChangeKind => kinds[letter] ?? 'modified'

/** The rest of a record after so many words; the name may hold spaces. */
const nameAfter = (record: Buffer, words: number): Buffer => {
  let from = 0
  for (let i = 0; i < words; i++) from = record.indexOf(0x20, from) + 1
  return record.subarray(from)
}

const change = (letter: string, bytes: Buffer, old?: Buffer): StatusChange => ({
  change: {
    ...repoPath(bytes),
    status: kindOf(letter),
    ...(old ? { old_path: textOf(old) } : {}),
  },
  bytes,
  ...(old ? { old } : {}),
})

type Header = {
  head: string | null
  branch: string | null
  upstream: string | null
  ahead: number | null
  behind: number | null
}

const readHeader = (header: Header, line: string): void => {
  const [, key, value = '', second = ''] = /^# branch\.(\S+) (\S+)(?: (\S+))?$/.exec(line) ?? []
  if (key === 'oid') header.head = value === '(initial)' ? null : value
  else if (key === 'head') header.branch = value === '(detached)' ? null : value
  else if (key === 'upstream') header.upstream = value
  else if (key === 'ab') {
    header.ahead = Number(value)
    header.behind = -Number(second) || 0
  }
}

const letterAt = (record: Buffer, at: number): string => String.fromCharCode(record[at] ?? 0)
const isMoved = (letter: string): boolean => letter === 'R' || letter === 'C'

/** Reads `git status --porcelain=v2 --branch -z`. */
export const parseStatus = (output: Uint8Array): ParsedStatus => {
  const header: Header = { head: null, branch: null, upstream: null, ahead: null, behind: null }
  const staged: StatusChange[] = []
  const unstaged: StatusChange[] = []
  const untracked: StatusName[] = []
  const conflicted: StatusName[] = []
  const fields = fieldsOf(output)
  for (let i = 0; i < fields.length; i++) {
    const record = fields[i] as Buffer
    const kind = letterAt(record, 0)
    if (kind === '#') readHeader(header, textOf(record))
    else if (kind === '?') {
      const bytes = nameAfter(record, 1)
      untracked.push({ name: repoPath(bytes), bytes })
    } else if (kind === 'u') {
      const bytes = nameAfter(record, 10)
      conflicted.push({ name: repoPath(bytes), bytes })
    } else if (kind === '1' || kind === '2') {
      const [x, y] = [letterAt(record, 2), letterAt(record, 3)]
      const bytes = nameAfter(record, kind === '1' ? 8 : 9)
      const old = kind === '2' ? fields[++i] : undefined
      if (x !== '.') staged.push(change(x, bytes, isMoved(x) ? old : undefined))
      if (y !== '.') unstaged.push(change(y, bytes, isMoved(y) ? old : undefined))
    }
  }
  return { ...header, staged, unstaged, untracked, conflicted }
}
