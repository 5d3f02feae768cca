import {
  closeSync,
  constants,
  fstatSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
} from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { PinnedFolder } from '../ports/files.ts'

const configBytesMax = 256 * 1024
const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
const fileFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Entries that could lead git to files of another place if they were links. */
const neverLinks = [
  'HEAD',
  'config',
  'index',
  'info',
  'logs',
  'objects',
  'objects/info',
  'objects/pack',
  'packed-refs',
  'refs',
  'refs/heads',
  'refs/remotes',
  'refs/tags',
  'shallow',
]

/** Each of these makes git read another folder as part of this repository. */
const neverThere = [
  'commondir',
  'config.worktree',
  'objects/info/alternates',
  'objects/info/http-alternates',
]

const look = (path: string) => lstatSync(path, { throwIfNoEntry: false }) ?? null

const refuseMissing = (folder: PinnedFolder, at: string): GatehouseError => {
  const isBare = ['HEAD', 'objects', 'refs'].every((name) => look(at + name) !== null)
  return isBare
    ? new GatehouseError('UnsafeRepository', {
        path: folder.path,
        detail: 'it is a bare repository, whose configuration anybody who writes files can set',
      })
    : new GatehouseError('NotARepository', {
        path: folder.path,
        detail: 'the folder has no .git',
      })
}

/** The `.git` of a repository, held open: looked at by descriptor, so that a swap shows nothing else. */
export class GitFolder implements Disposable {
  readonly fd: number
  /** Goes before a name in it. */
  readonly at: string
  readonly #shown: string

  constructor(folder: PinnedFolder) {
    this.#shown = folder.path
    const at = `/proc/self/fd/${folder.fd}/`
    const stat = look(`${at}.git`)
    if (stat === null) throw refuseMissing(folder, at)
    if (!stat.isDirectory()) {
      throw this.#unsafe(
        stat.isSymbolicLink()
          ? '.git is a link'
          : '.git is a file that points elsewhere, as in a submodule or a second work tree',
      )
    }
    try {
      this.fd = openSync(`${at}.git`, folderFlags)
    } catch (cause) {
      throw this.#unsafe('.git was exchanged meanwhile', cause)
    }
    this.at = `/proc/self/fd/${this.fd}/`
    try {
      this.#check()
    } catch (error) {
      closeSync(this.fd)
      throw error
    }
  }

  /** @SECURITY The folder leads nowhere else; git-config.test.ts has a repository for each way. */
  #check(): void {
    for (const name of neverThere) {
      if (look(this.at + name) !== null) throw this.#unsafe(`.git/${name} leads elsewhere`)
    }
    for (const name of neverLinks) {
      if (look(this.at + name)?.isSymbolicLink()) throw this.#unsafe(`.git/${name} is a link`)
    }
    for (const name of ['HEAD', 'config']) this.#assertKind(name, 'file')
    for (const name of ['objects', 'refs']) this.#assertKind(name, 'folder')
  }

  #assertKind(name: string, kind: 'file' | 'folder'): void {
    const stat = look(this.at + name)
    if (kind === 'file' ? stat?.isFile() : stat?.isDirectory()) return
    throw new GatehouseError('NotARepository', {
      path: this.#shown,
      detail: `.git/${name} is missing or is no ${kind}`,
    })
  }

  #unsafe(detail: string, cause?: unknown): GatehouseError {
    return new GatehouseError('UnsafeRepository', { path: this.#shown, detail }, { cause })
  }

  has(name: string): boolean {
    return look(this.at + name) !== null
  }

  /** Seconds since it was last written; null when it is not there. */
  ageSeconds(name: string): number | null {
    const stat = look(this.at + name)
    return stat ? Math.max(0, Math.round((Date.now() - stat.mtimeMs) / 1000)) : null
  }

  /** A small file of it, never through a link; null when it is not there. */
  read(name: string): Buffer | null {
    let fd: number
    try {
      fd = openSync(this.at + name, fileFlags)
    } catch (cause) {
      if (!this.has(name)) return null
      throw this.#unsafe(`.git/${name} cannot be read as a file`, cause)
    }
    try {
      const stat = fstatSync(fd)
      if (!stat.isFile()) throw this.#unsafe(`.git/${name} is no file`)
      if (stat.size > configBytesMax) throw this.#unsafe(`.git/${name} is too large`)
      return readFileSync(fd)
    } finally {
      closeSync(fd)
    }
  }

  /** Git makes these when it first needs them, which it cannot do through our links. */
  prepare(): void {
    const { uid, gid } = fstatSync(this.fd)
    for (const name of ['logs', 'info']) {
      if (this.has(name)) continue
      mkdirSync(this.at + name)
      if (process.getuid?.() === 0) lchownSync(this.at + name, uid, gid)
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.fd)
  }
}
