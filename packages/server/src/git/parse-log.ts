import type { Commit } from '../ports/git.ts'
import { fieldsOf, textOf } from './fields.ts'

const fields = ['%H', '%P', '%an', '%ae', '%aI', '%cn', '%cI', '%s', '%b'] as const

/** For `-z`: each field ends with NUL, which no message can hold. */
export const commitFormat = `--format=tformat:${fields.join('%x00')}`

/** Reads `git log -z` in that format. */
export const parseLog = (output: Uint8Array): readonly Commit[] => {
  const found = fieldsOf(output)
  const commits: Commit[] = []
  for (let i = 0; i + fields.length <= found.length; i += fields.length) {
    const [hash, parents, name, email, authored, committer, committed, subject, body] = found
      .slice(i, i + fields.length)
      .map(textOf) as [string, string, string, string, string, string, string, string, string]
    commits.push({
      hash,
      parents: parents === '' ? [] : parents.split(' '),
      author_name: name,
      author_email: email,
      authored_at: utc(authored),
      committer_name: committer,
      committed_at: utc(committed),
      subject,
      body: body.replace(/\n+$/, ''),
    })
  }
  return commits
}

/** Dates of commits are whatever their author wrote; those beyond reason stay as git shows them. */
export const utc = (iso: string): string => {
  const ms = Date.parse(iso)
  return Number.isNaN(ms) ? iso : new Date(ms).toISOString()
}
