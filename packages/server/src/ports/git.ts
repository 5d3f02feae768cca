import type { Files } from './files.ts'

/** For whom and as what git is used; bound to one call. */
export type GitUse = {
  readonly agent: string
  /** Capability whose scope a secret is checked against. */
  readonly capability: string
  readonly files: Files
  readonly signal: AbortSignal
  /** Told which backend of the sandbox ran it. */
  readonly noted: (facts: Readonly<Record<string, unknown>>) => void
}

export interface GitFactory {
  /** Must say whether the machine has the program now: it may come and go while the service runs. */
  installed(): boolean

  open(use: GitUse): AgentGit
}

/** A path in a repository. Names are bytes: what is no UTF-8 is shown with U+FFFD, and exactly in base64. */
export type RepoPath = { readonly path: string; readonly path_base64?: string }

export type ChangeKind =
  | 'added'
  | 'modified'
  | 'deleted'
  | 'renamed'
  | 'copied'
  | 'type_changed'
  | 'unmerged'

export type Change = RepoPath & { readonly status: ChangeKind; readonly old_path?: string }

export type RepoState =
  | 'clean'
  | 'changed'
  | 'merging'
  | 'rebasing'
  | 'cherry_picking'
  | 'reverting'
  | 'bisecting'

export type GitStatus = {
  /** Null on a detached head. */
  readonly branch: string | null
  /** Null before the first commit. */
  readonly head: string | null
  readonly upstream: string | null
  /** Null where there is no upstream to compare with. */
  readonly ahead: number | null
  readonly behind: number | null
  readonly staged: readonly Change[]
  readonly unstaged: readonly Change[]
  readonly untracked: readonly RepoPath[]
  readonly conflicted: readonly RepoPath[]
  readonly state: RepoState
  /** Of each list, before it was cut. */
  readonly totals: {
    readonly staged: number
    readonly unstaged: number
    readonly untracked: number
    readonly conflicted: number
  }
  readonly truncated: boolean
  /** Changes of files that policy keeps from the call. */
  readonly withheld: number
}

/** `additions` and `deletions` are null for binary files. */
export type FileDiff = Change & {
  readonly additions: number | null
  readonly deletions: number | null
}

export type GitDiff = {
  readonly files: readonly FileDiff[]
  readonly patch: string
  readonly totals: {
    readonly files: number
    readonly additions: number
    readonly deletions: number
  }
  readonly truncated: boolean
  /** Files that policy keeps from the call; neither listed nor in the patch. */
  readonly withheld: number
}

export type Commit = {
  readonly hash: string
  readonly parents: readonly string[]
  readonly author_name: string
  readonly author_email: string
  readonly authored_at: string
  readonly committer_name: string
  readonly committed_at: string
  readonly subject: string
  readonly body: string
}

export type BlameLine = {
  readonly line: number
  readonly content: string
  /** Null for a line that is not committed yet. */
  readonly commit: string | null
  readonly author_name: string
  readonly authored_at: string
  readonly summary: string
}

export type Branch = {
  readonly name: string
  readonly head: string
  readonly remote: boolean
  readonly subject: string
  readonly committed_at: string
}

/** Plan of a push, seen from here. */
export type PushPlan = {
  readonly url: string
  /** Name of the remote in the configuration; null where an address was given. */
  readonly remote: string | null
  readonly branch: string
  readonly head: string
  /** Where the remote's branch was last seen; null when it was not. */
  readonly remote_head: string | null
  /** The newest of them. */
  readonly commits: readonly {
    readonly hash: string
    readonly subject: string
    readonly author_name: string
  }[]
  readonly total_commits: number
  /** Commits taken to be there already: what this repository last saw of the remote. */
  readonly bases: readonly string[]
  /** SHA-256 over the sorted ids of all commits that would go. */
  readonly commits_digest: string
}

/** Plan of a pull: what it asks for, and what that is merged into. */
export type PullPlan = {
  readonly url: string
  readonly remote: string | null
  readonly branch: string
  readonly into: string
  readonly head: string | null
}

/** Plan of a merge, as far as that is known ahead. */
export type MergePlan = {
  /** Null on a detached head. */
  readonly into: string | null
  /** Null before the first commit. */
  readonly head: string | null
  /** The commit that would be merged. */
  readonly hash: string
  readonly result: 'up_to_date' | 'fast_forward' | 'merge'
  /** The newest of those that are not here yet. */
  readonly commits: PushPlan['commits']
  readonly total_commits: number
  /** Changes of the other side since the two parted. */
  readonly changes: GitDiff
  /** Files that would conflict; null where that cannot be found out. */
  readonly conflicts: readonly string[] | null
}

export type Merged = {
  readonly result: 'up_to_date' | 'fast_forward' | 'merged' | 'conflicts' | 'aborted'
  readonly head: string | null
  readonly conflicts: readonly string[]
}

/**
 * Real git on the repositories of one agent, in the sandbox, with nothing of the host but the repository in
 * sight. Raises `PathOutOfScope` and what any path raises, `NotARepository`, `UnsafeRepository`,
 * `UnsafeRepoConfig`, `RepoLocked`, `InvalidRef`, `GitRefused`, `GitFailed`, `SandboxUnavailable`, and
 * `PathNotPermitted` where policy keeps a file of it from the call that cannot be left out; what reaches
 * a remote also `UrlNotAllowed`, `RemoteRefused`, and what a secret raises.
 */
export interface AgentGit {
  status(path: string, options: { readonly limit: number }): Promise<GitStatus>

  /** Index against commit (`staged`), work tree against index, or what `from` and `to` name. */
  diff(
    path: string,
    options: {
      readonly staged: boolean
      readonly from?: string | undefined
      readonly to?: string | undefined
      readonly paths: readonly string[]
      readonly patchBytesMax: number
      readonly filesMax: number
    },
  ): Promise<GitDiff>

  log(
    path: string,
    options: {
      readonly limit: number
      readonly offset: number
      readonly ref: string
      readonly since?: string | undefined
      readonly author?: string | undefined
      readonly file?: string | undefined
    },
  ): Promise<{ readonly commits: readonly Commit[]; readonly truncated: boolean }>

  /** A commit and what it changed against its first parent. */
  show(
    path: string,
    options: { readonly ref: string; readonly patchBytesMax: number; readonly filesMax: number },
  ): Promise<{ readonly commit: Commit } & GitDiff>

  blame(
    path: string,
    options: {
      readonly file: string
      readonly ref?: string | undefined
      readonly first: number
      readonly limit: number
    },
  ): Promise<{ readonly lines: readonly BlameLine[]; readonly truncated: boolean }>

  branches(path: string): Promise<{
    readonly branches: readonly Branch[]
    readonly current: string | null
    readonly truncated: boolean
  }>

  /** Must make the folder where it is missing; raises `AlreadyExists` where a repository stands. */
  init(
    path: string,
    initialBranch: string,
  ): Promise<{ readonly path: string; readonly default_branch: string; readonly head: null }>

  /** Plan of a commit of these files; of all changes where none are named. Raises `NothingToCommit`. */
  planCommit(
    path: string,
    files: readonly string[] | undefined,
  ): Promise<{
    readonly branch: string | null
    readonly head: string | null
    readonly changes: readonly Change[]
    readonly withheld: number
  }>

  commit(
    path: string,
    commit: {
      readonly message: string
      readonly files?: readonly string[] | undefined
      readonly authorName?: string | undefined
      readonly authorEmail?: string | undefined
    },
  ): Promise<{
    readonly commit_hash: string
    readonly branch: string | null
    readonly changes: readonly Change[]
    readonly withheld: number
  }>

  createBranch(path: string, name: string, startPoint: string): Promise<void>
  switchBranch(path: string, name: string): Promise<void>
  /** Raises `GitRefused` for the current branch, and for one with commits that are nowhere else. */
  deleteBranch(path: string, name: string): Promise<void>

  /** How the files of a branch differ from those that are checked out. Raises `DeadlineExceeded` soon. */
  planSwitch(
    path: string,
    name: string,
  ): Promise<{ readonly head: string; readonly changes: GitDiff }>

  /** Must change nothing. Raises `DeadlineExceeded` soon. */
  planMerge(path: string, ref: string): Promise<MergePlan>

  /** Merges `hash`, where it is given, under the name `ref`. */
  merge(path: string, ref: string, hash?: string): Promise<Merged>
  abortMerge(path: string): Promise<Merged>

  /**
   * Plan of `restore`: `changes` from what stands there now, `staged` from what the index has.
   * Raises `DeadlineExceeded` soon.
   */
  planRestore(
    path: string,
    files: readonly string[],
    source: string,
  ): Promise<{ readonly hash: string; readonly changes: GitDiff; readonly staged: GitDiff }>

  /** Puts files back as they are in `source`, in the index and the work tree. */
  restore(path: string, files: readonly string[], source: string): Promise<readonly string[]>

  /** Checks the address and the place, and touches neither. */
  planClone(url: string, path: string): { readonly url: string; readonly path: string }
  clone(
    url: string,
    path: string,
    options: {
      readonly branch?: string | undefined
      readonly depth?: number | undefined
      readonly secret?: string | undefined
    },
  ): Promise<{
    readonly path: string
    readonly default_branch: string
    readonly head: string | null
  }>

  planPull(path: string, remote: string, branch?: string): Promise<PullPlan>
  /** Does what the plan says, and raises `GitRefused` where that no longer fits. */
  pull(
    path: string,
    plan: PullPlan,
    secret?: string,
  ): Promise<Merged & { readonly new_commits: number }>

  planPush(path: string, remote: string, branch?: string): Promise<PushPlan>
  /** Pushes exactly the commits of the plan onto what the plan saw, or raises `PushRejected`. */
  push(
    path: string,
    plan: PushPlan,
    secret?: string,
  ): Promise<{ readonly pushed_refs: readonly string[]; readonly new_commits: number }>
}
