import { lstatSync, watch as watchSystem } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { Dir } from './dir.ts'
import { failure } from './failure.ts'
import { identityAt, identityOf } from './identity.ts'
import { entriesOf, openFolder } from './look.ts'
import { isReserved } from './names.ts'
import type { Roots } from './roots.ts'
import { walkTo } from './walk.ts'
import { followToStat } from './write.ts'

/** Folders under one recursive watch: each takes a watch of the operating system. */
export const watchedFoldersMax = 2_000
const debounceMs = 20

export type Change = { readonly kind: 'created' | 'changed' | 'deleted'; readonly path: string }

type Folder = {
  readonly path: string
  readonly identity: string | null
  /** Names and versions as last seen, from which a change is told from a beginning and an end. */
  readonly seen: Map<string, string>
  readonly stop: () => void
}

/**
 * Watches folders by descriptor, so that a folder swapped for a link is not looked into; before a change
 * is told, the folder is walked to again and must be the one that is watched.
 */
class PathWatch implements Disposable {
  /** Looked up each time: the folders of an agent are opened anew when an operator changes which it has. */
  readonly #rootsNow: () => Roots
  readonly #listener: (change: Change) => void
  readonly #withheld: () => void
  readonly #recursive: boolean
  /** Set when a file is watched: its folder is, and only this name is told of. */
  readonly #only: string | null
  readonly #folders = new Map<string, Folder>()
  readonly #due = new Map<string, Set<string>>()
  #timer: NodeJS.Timeout | null = null
  #work: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(
    rootsNow: () => Roots,
    options: { readonly recursive: boolean; readonly only: string | null },
    listener: (change: Change) => void,
    withheld: () => void,
  ) {
    this.#rootsNow = rootsNow
    this.#recursive = options.recursive
    this.#only = options.only
    this.#listener = listener
    this.#withheld = withheld
  }

  [Symbol.dispose](): void {
    this.#stopped = true
    if (this.#timer) clearTimeout(this.#timer)
    for (const folder of this.#folders.values()) folder.stop()
    this.#folders.clear()
  }

  /** Starts watching a folder; with `tell`, what it already holds is new. */
  async add(path: string, dir: Dir, tell: boolean): Promise<void> {
    try {
      if (this.#folders.size >= watchedFoldersMax) {
        const what = 'folders under one watch'
        throw new GatehouseError('QuotaExceeded', { limit: watchedFoldersMax, what })
      }
      const identity = identityOf(dir.fd)
      this.#folders.get(path)?.stop()
      const watcher = watchSystem(dir.at, { persistent: false }, (_, name) => {
        if (name !== null) this.#note(path, name)
      })
      watcher.on('error', () => this.#forget(path))
      const seen = new Map<string, string>()
      this.#folders.set(path, { path, identity, seen, stop: () => watcher.close() })
      const entries = await entriesOf(dir, path)
      for (const entry of entries) {
        if (this.#stopped) return
        seen.set(entry.name, `${entry.size_bytes}:${entry.modified_at}`)
        if (tell) this.#tell('created', `${path}/${entry.name}`)
        if (!this.#recursive || entry.type !== 'directory') continue
        const child = this.#open(`${path}/${entry.name}`)
        if (child) await this.add(`${path}/${entry.name}`, child, tell)
      }
    } finally {
      dir.close()
    }
    if (this.#stopped) this.#forget(path)
  }

  #open(path: string): Dir | null {
    try {
      using walk = walkTo(this.#rootsNow(), path, 'read')
      // Only where the path is that folder itself, not where a link leads to it.
      return walk.path === path ? openFolder(walk, path) : null
    } catch {
      return null
    }
  }

  #forget(path: string): void {
    for (const [known, folder] of this.#folders) {
      if (known !== path && !known.startsWith(`${path}/`)) continue
      folder.stop()
      this.#folders.delete(known)
    }
  }

  #note(path: string, name: string): void {
    if (this.#stopped || isReserved(name) || (this.#only !== null && name !== this.#only)) return
    const names = this.#due.get(path) ?? new Set()
    this.#due.set(path, names.add(name))
    // A burst of writes is one change.
    this.#timer ??= setTimeout(() => {
      this.#timer = null
      this.#work = this.#work.then(() => this.#report()).catch(() => this[Symbol.dispose]())
    }, debounceMs).unref()
  }

  async #report(): Promise<void> {
    const due = [...this.#due]
    this.#due.clear()
    for (const [path, names] of due) {
      const folder = this.#folders.get(path)
      if (!folder || this.#stopped) continue
      const dir = this.#open(path)
      try {
        // @SECURITY Another folder stands there now: changes in the old one are not the agent's to see; files.test.ts.
        if (!dir || identityOf(dir.fd) !== folder.identity) this.#forget(path)
        else for (const name of names) await this.#look(folder, dir, name)
      } finally {
        dir?.close()
      }
    }
  }

  async #look(folder: Folder, dir: Dir, name: string): Promise<void> {
    const path = `${folder.path}/${name}`
    const stat = lstatSync(dir.at + name, { throwIfNoEntry: false })
    const before = folder.seen.get(name)
    if (!stat) {
      this.#forget(path)
      if (folder.seen.delete(name)) this.#tell('deleted', path)
      return
    }
    const version = `${stat.size}:${new Date(stat.mtimeMs).toISOString()}`
    folder.seen.set(name, version)
    if (before === undefined) this.#tell('created', path)
    if (stat.isDirectory()) await this.#lookInto(path, identityAt(dir.at + name))
    else if (before !== undefined && before !== version) this.#tell('changed', path)
  }

  /** A new folder, or one in the place of another: all that it holds is new. */
  async #lookInto(path: string, identity: string | null): Promise<void> {
    if (!this.#recursive || this.#folders.get(path)?.identity === identity) return
    this.#forget(path)
    const child = this.#open(path)
    if (child) await this.add(path, child, true)
  }

  #tell(kind: Change['kind'], path: string): void {
    if (this.#stopped) return
    if (this.#rootsNow().permits(path)) this.#listener({ kind, path })
    else this.#withheld()
  }
}

export const watchPath = async (
  rootsNow: () => Roots,
  shown: string,
  options: { readonly recursive: boolean },
  listener: (change: Change) => void,
  withheld: () => void = () => {},
): Promise<Disposable> => {
  let dir: Dir
  let only: string | null = null
  let path: string
  {
    using walk = walkTo(rootsNow(), shown, 'read')
    try {
      const stat = followToStat(walk)
      if (!stat) throw new GatehouseError('FileNotFound', { path: shown })
      walk.assertPermitted()
      path = walk.path
      if (stat.isDirectory()) dir = openFolder(walk, shown)
      else {
        only = walk.leaf
        path = path.slice(0, path.lastIndexOf('/'))
        dir = walk.takeDir()
      }
    } catch (error) {
      throw failure(error, shown)
    }
  }
  const recursive = options.recursive && only === null
  const watch = new PathWatch(rootsNow, { recursive, only }, listener, withheld)
  try {
    await watch.add(path, dir, false)
    return watch
  } catch (error) {
    watch[Symbol.dispose]()
    throw failure(error, shown)
  }
}
