import type { Buffer } from 'node:buffer'
import type { Awaitable } from '../domain/awaitable.ts'

export type FileType = 'file' | 'directory' | 'symlink' | 'other'

export type FileStat = {
  readonly type: FileType
  readonly size_bytes: number
  readonly modified_at: string
  readonly created_at: string
  /** `0644`. */
  readonly permissions: string
  /** Numeric uid and gid, `0:0`. */
  readonly owner: string
}

export type FileEntry = {
  readonly name: string
  readonly type: FileType
  readonly size_bytes: number
  readonly modified_at: string
}

/**
 * Thing at a path: canonical path, a last link, type, dev, inode, and sha256 of a small file, else its version. All
 * null but the path where no file or folder is there.
 */
export type Fingerprint = Readonly<Record<string, string | null>>

/** A place in the two forms that policy may speak of; `relative` is absolute outside of the workspace. */
export type Told = { readonly absolute: string; readonly relative: string }

/** Policy for the places that a call reaches, asked before each is touched. */
export interface Reach {
  /**
   * Whether the call may touch what lies there, links followed. `argument` names the argument that led
   * there, and `shown` is what stood in it; without them it is the one that the call was given.
   */
  permits(place: Told, argument?: string, shown?: string): boolean

  /** The same, and whether `filesystem.read` or `filesystem.write` is let there as well. */
  reads(place: Told): boolean
  writes(place: Told): boolean
}

/** A thing below a folder; `relative` is told from where the search began. */
export type FoundEntry = FileEntry & { readonly path: string; readonly relative: string }

export type Trashed = {
  readonly trash_id: string
  readonly path: string
  readonly recoverable_until: string
}

export type TrashedItem = {
  readonly path: string
  readonly type: FileType
  /** 0 for what is no file. */
  readonly size_bytes: number
  /** Names directly in a folder, counted up to 1000; null for what is no folder. */
  readonly entries: number | null
  readonly deleted_at: string
}

/**
 * The folders of one agent: its workspace and its mounts. Every path is absolute inside them or relative
 * to the workspace, and every method walks by directory descriptors, so that nobody who swaps a folder
 * for a link meanwhile leads it outside. Raises `PathOutOfScope`, `InvalidPath`, `FileNotFound`,
 * `NotARegularFile`, `NotADirectory`, `IsADirectory`, `ReadOnlyRoot`, `ProtectedPath`, `TooManyLinks`,
 * `PermissionRefused`, `StorageFull`, `AlreadyExists`, `DirectoryNotEmpty`, `FileChanged`, `FileTooLarge`.
 * Given `bound`, the fingerprint of what a person agreed to see changed, it must act on that or raise
 * `ApprovalStale`: compared in the turn of the change, not before.
 * Where it was opened with a `Reach`, every method asks about the place that its descriptors stand at and
 * acts through those; raises `PathNotPermitted`.
 */
export interface Files {
  /** Where a path lies, as an absolute path inside the roots, without touching the disk. */
  resolve(path: string): string

  /**
   * Where a path leads now, links followed as far as anything is there: absolute, and relative to the
   * workspace for what lies in it. Never raises; a path that leads nowhere allowed is told by its text.
   * With `entry` a last link is not followed: the path means the link itself.
   */
  locate(path: string, options?: { readonly entry: boolean }): Told

  /**
   * Whether what the path leads to, links followed, lies in the roots and may be read or written there. Of what
   * is missing the folder that it would be in decides. Never raises.
   */
  reaches(path: string, intent: 'read' | 'write'): boolean

  /** Whether there is a `Reach`, so that some place could be refused. */
  readonly asks: boolean

  /** Whether the `Reach` lets the call touch, read or write what lies at an absolute place; true without one. */
  permits(place: string): boolean
  mayRead(place: string): boolean
  mayWrite(place: string): boolean

  /** Must return false only where `locate` cannot give an absolute path that begins so. Does not look at the disk. */
  canLeadTo(path: string, beginning: string): boolean

  /**
   * Must read a regular file whole or in part; `size_bytes` is the whole file's. What a small one holds is there at
   * once; failures are rejections.
   */
  read(
    path: string,
    options: { readonly offset?: number; readonly limit?: number; readonly bytesMax: number },
  ): Awaitable<{
    readonly bytes: Buffer
    readonly size_bytes: number
    readonly modified_at: string
    readonly truncated: boolean
  }>

  /** Must return null when nothing is there, at once; failures are rejections. Does not follow a last link. */
  stat(path: string): Awaitable<FileStat | null>

  /** Must leave out, and count, what the `Reach` does not permit. */
  list(path: string): Promise<{
    readonly entries: readonly FileEntry[]
    readonly withheld: number
  }>

  /**
   * Must yield what lies below, depth first and by name, links not followed; of a file, the file itself.
   * Stops when aborted. A folder that `enter` says no to is yielded, but not what it holds. What the
   * `Reach` does not permit is neither yielded nor entered, and told to `withheld`.
   */
  walk(
    path: string,
    signal: AbortSignal,
    options?: {
      readonly enter?: (folder: FoundEntry) => boolean
      readonly withheld?: (path: string) => void
    },
  ): AsyncIterable<FoundEntry>

  /** Must replace whole or not at all (a temporary file beside it, fsync, rename, fsync of the folder). */
  write(
    path: string,
    bytes: Uint8Array,
    options: {
      readonly createParents: boolean
      readonly ifSha256?: string
      readonly mustBeNew?: boolean
      readonly bound?: Fingerprint | null | undefined
    },
  ): Promise<{
    readonly path: string
    readonly size_bytes: number
    readonly sha256: string
    readonly created: boolean
  }>

  /**
   * The same for what arrives bit by bit. Must not ask for the first chunk before it knows that the place can
   * be written, and must leave nothing behind where the chunks fail. Raises also `DigestMismatch`.
   */
  writeStream(
    path: string,
    chunks: AsyncIterable<Uint8Array>,
    options: {
      readonly createParents: boolean
      readonly mustBeNew: boolean
      /** Digest that the whole content must have; anything else is not put in place. */
      readonly sha256?: string
      readonly bound?: Fingerprint | null | undefined
    },
  ): Promise<{
    readonly path: string
    readonly size_bytes: number
    readonly sha256: string
    readonly created: boolean
  }>

  /**
   * Must not lose what was added, whoever else adds to the file or replaces it at the same time. It may be in there
   * twice where another file takes its place meanwhile.
   */
  append(
    path: string,
    bytes: Uint8Array,
    options?: { readonly bound?: Fingerprint | null | undefined },
  ): Promise<{ readonly path: string; readonly size_bytes: number }>

  /** A folder that holds anything which the `Reach` does not permit is refused before anything is done. */
  copy(source: string, destination: string, options: CopyOptions): Promise<CopyResult>

  move(source: string, destination: string, options: CopyOptions): Promise<CopyResult>

  makeDirectory(
    path: string,
    options: { readonly parents: boolean },
  ): Promise<{ readonly path: string; readonly created: boolean }>

  /** Must move it into the root's trash, from where `restore` brings it back for seven days. */
  trash(
    path: string,
    options: { readonly recursive: boolean; readonly bound?: Fingerprint | null | undefined },
  ): Promise<Trashed>

  /** Item that `restore` would bring back, with its time. Raises `TrashNotFound`, `PathNotPermitted`. */
  trashed(trashId: string): Promise<TrashedItem>

  restore(trashId: string): Promise<{ readonly path: string }>

  /**
   * Must tell of changes below the path until disposed. Never tells of what lies outside the roots, nor of
   * what the `Reach` does not permit at that moment, which `withheld` hears of.
   */
  watch(
    path: string,
    options: { readonly recursive: boolean },
    listener: (change: {
      readonly kind: 'created' | 'changed' | 'deleted'
      readonly path: string
    }) => void,
    withheld?: () => void,
  ): Promise<Disposable>

  /**
   * Must hold the folder open, so that what runs on it runs on this very folder whoever renames or swaps
   * it meanwhile. For writing, raises also what a write would.
   */
  pin(path: string, options: { readonly writable: boolean }): PinnedFolder

  /**
   * Fingerprint of a path now, for the digest of an approval. With `entry` a last link is what is meant, not what it
   * leads to.
   */
  fingerprint(
    path: string,
    options?: { readonly entry?: boolean; readonly argument?: string },
  ): Promise<Fingerprint>
}

export type CopyOptions = {
  readonly overwrite: boolean
  readonly bound?:
    | { readonly source: Fingerprint; readonly destination: Fingerprint | null }
    | null
    | undefined
}

export type CopyResult = {
  readonly source: string
  readonly destination: string
  readonly size_bytes: number
  readonly sha256: string | null
}

/** A folder held open until disposed. */
export interface PinnedFolder extends Disposable {
  /** Of this process: `/proc/self/fd/<fd>` is the folder. */
  readonly fd: number
  /** Where it was found: absolute, links followed. */
  readonly path: string
  /** Folders of the same agent that lie inside it and keep rules of their own, held open too. */
  readonly inner: readonly {
    readonly path: string
    readonly fd: number
    readonly read_only: boolean
  }[]
}

/** A folder that is held open until it is disposed. */
export type HeldFolder = Disposable & { readonly source: string }

export type AgentFolders = {
  readonly name: string
  readonly workspace: string
  readonly mounts: readonly { readonly path: string; readonly read_only: boolean }[]
}

export interface FilesFactory {
  /**
   * Must be told, before any folder is opened, of all folders that agents may use, by themselves or through a server, and
   * again when they change: no link in one that is writable leads to another.
   */
  note(
    kind: 'agent' | 'upstream',
    folders: Partial<AgentFolders> & Pick<AgentFolders, 'name' | 'mounts'>,
  ): void

  /**
   * Must open what a person gave to a program, a folder or a file. Raises `FileNotFound`, and `InvalidConfiguration` where
   * it would not be given to an agent either; a workspace may be.
   */
  hold(path: string): HeldFolder

  /** Must raise `InvalidParams` for mounts of one agent of which one may not be given, naming it and why. */
  assertMounts(mounts: AgentFolders['mounts']): void

  /**
   * Must open the roots of an agent, and make its workspace if it is not there. Kept open until changed or
   * disposed. With a `reach`, nothing is touched that it does not permit.
   */
  open(agent: AgentFolders, reach?: Reach | null): Files

  /** Folders of an agent that are on another node: paths are told by their text, all else raises `WorkspaceElsewhere`. */
  away(agent: { readonly name: string; readonly workspace: string }): Files
}
