import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { ExportSource, SignedNote } from '../ports/audit-export.ts'
import type { WitnessTarget } from './target.ts'

type GitWitness = {
  readonly remote: string
  readonly branch: string
  /** For the objects; nothing is ever checked out in it. */
  readonly folder: string
  /** The name of the file in the repository: one for each node. */
  readonly file: string
  readonly environment: Readonly<Record<string, string>>
  readonly compare: ExportSource['compare']
}

const timeoutMs = 60_000
const outputBytesMax = 64 * 1024 * 1024
/** `ls-remote --exit-code`: the remote answers, and has no such branch. */
const noBranch = 2
const author = { name: 'Gatehouse', email: 'gatehouse@localhost' }

const environmentOf = ({ environment, folder }: GitWitness): Record<string, string> => ({
  ...environment,
  GIT_DIR: folder,
  GIT_INDEX_FILE: path.join(folder, 'witness.index'),
  GIT_TERMINAL_PROMPT: '0',
  GIT_ALLOW_PROTOCOL: 'https:ssh:file',
  GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
  GIT_AUTHOR_NAME: author.name,
  GIT_AUTHOR_EMAIL: author.email,
  GIT_COMMITTER_NAME: author.name,
  GIT_COMMITTER_EMAIL: author.email,
  LC_ALL: 'C',
})

type GitOptions = {
  readonly input?: string
  /** An exit code that is an answer, too; then there is no output. */
  readonly allowed?: number
  readonly signal: AbortSignal
}
type Git = (args: readonly string[], options: GitOptions) => Promise<string | null>

/** Runs git on the objects of the witness, and returns what it says. */
const gitOf = (given: GitWitness): Git => {
  const env = environmentOf(given)
  return (args, { input = '', allowed, signal }) =>
    new Promise((resolve, reject) => {
      const child = execFile(
        'git',
        ['-c', 'core.hooksPath=/dev/null', ...args],
        { env, signal, timeout: timeoutMs, maxBuffer: outputBytesMax },
        (cause, stdout) => {
          if (!cause) return resolve(stdout)
          if (allowed !== undefined && cause.code === allowed) return resolve(null)
          const detail = `git ${args[0]} of ${given.remote} failed (${String(cause.code ?? cause.signal)})`
          reject(new GatehouseError('ExportFailed', { detail }, { cause }))
        },
      )
      child.stdin?.on('error', () => undefined)
      child.stdin?.end(input)
    })
}

/** A branch of a repository elsewhere: each delivery is a commit, pushed without force. */
export const gitWitness = (given: GitWitness): WitnessTarget => {
  const { remote, branch, folder, file } = given
  const ref = `refs/heads/${branch}`
  const git = gitOf(given)

  /** The commit at the end of the branch; null for a branch that is not there yet. */
  const fetched = async (signal: AbortSignal): Promise<string | null> => {
    const there = await git(['ls-remote', '--exit-code', '--', remote, ref], {
      allowed: noBranch,
      signal,
    })
    if (there === null) return null
    await git(['fetch', '--quiet', '--no-tags', '--depth=1', '--', remote, ref], { signal })
    return (await git(['rev-parse', 'FETCH_HEAD'], { signal }))?.trim() ?? null
  }

  const commit = async (
    parent: string | null,
    text: string,
    message: string,
    signal: AbortSignal,
  ): Promise<string> => {
    const blob = await git(['hash-object', '-w', '--stdin'], { input: text, signal })
    await git(parent === null ? ['read-tree', '--empty'] : ['read-tree', parent], { signal })
    const entry = `100644,${blob?.trim()},${file}`
    await git(['update-index', '--add', '--cacheinfo', entry], { signal })
    const tree = (await git(['write-tree'], { signal }))?.trim() ?? ''
    const parents = parent === null ? [] : ['-p', parent]
    const made = await git(['commit-tree', tree, ...parents], { input: message, signal })
    return made?.trim() ?? ''
  }

  return {
    takes: 'checkpoints',
    async witness(notes: readonly SignedNote[], signal) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await git(['init', '--quiet', '--bare'], { signal })
      const parent = await fetched(signal)
      const known =
        parent === null
          ? ''
          : ((await git(['cat-file', 'blob', `${parent}:${file}`], { allowed: 128, signal })) ?? '')
      // @SECURITY checkpoints that a witness has and the log lacks speak against a log that was put back; audit-export.test.ts.
      given.compare(known, `the witness at ${remote}`)
      const fresh = notes.filter(({ note }) => !known.includes(note))
      if (fresh.length === 0) return
      const text = known + fresh.map(({ note }) => `${note}\n`).join('')
      const made = await commit(parent, text, `Checkpoint ${fresh.at(-1)?.size}\n`, signal)
      await git(['push', '--quiet', '--', remote, `${made}:${ref}`], { signal })
    },
  }
}
