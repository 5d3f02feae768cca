import type { Awaitable } from '../domain/awaitable.ts'
import type { FileStat, Files } from '../ports/files.ts'
import { appendFile } from './append.ts'
import { type Deps as CopyDeps, copyPath } from './copy.ts'
import { fingerprintOf } from './fingerprint.ts'
import { canLeadTo, locate, reaches } from './locate.ts'
import { listFolder, statPath } from './look.ts'
import { makeFolder } from './make-folder.ts'
import { movePath } from './move.ts'
import { pinFolder } from './pin.ts'
import { isMissing } from './place-walk.ts'
import { type ReadOptions, type ReadResult, readFile } from './read.ts'
import type { Roots } from './roots.ts'
import type { Trash } from './trash.ts'
import { treeBelow } from './tree.ts'
import { watchPath } from './watch.ts'
import { writeFile } from './write.ts'
import { writeStream } from './write-stream.ts'

type Deps = CopyDeps & {
  readonly trash: Trash
  /** The folders as they are open by then, for what lasts longer than a call. */
  readonly rootsNow: () => Roots
}
type Given<M extends Exclude<keyof Files, 'asks'>> = Parameters<Files[M]>

/** Operations of an agent on its folders. A class, because nearly every call makes one for its own reach. */
export class AgentFiles implements Files {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  get asks(): boolean {
    return this.#roots.reach !== null
  }

  resolve(path: string) {
    return this.#roots.resolve(path)
  }

  locate(path: string, options?: { readonly entry: boolean }) {
    return locate(this.#roots, path, options?.entry)
  }

  reaches(path: string, intent: 'read' | 'write') {
    return reaches(this.#roots, path, intent)
  }

  permits(place: string) {
    return this.#roots.permits(place)
  }

  mayRead(place: string) {
    return this.#roots.reach?.reads(this.#roots.told(place)) ?? true
  }

  mayWrite(place: string) {
    return this.#roots.reach?.writes(this.#roots.told(place)) ?? true
  }

  canLeadTo(path: string, beginning: string) {
    return canLeadTo(this.#roots, path, beginning)
  }

  read(path: string, options: ReadOptions): Awaitable<ReadResult> {
    const step = () => readFile(this.#roots, path, options, this.#deps.denyHardlinks)
    try {
      return step()
    } catch (error) {
      return this.#revived(error, step)
    }
  }

  stat(path: string): Awaitable<FileStat | null> {
    const stat = () => statPath(this.#roots, path)
    try {
      return stat() ?? (this.#roots.revive() ? stat() : null)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  list(path: string) {
    return this.#reviving(() => listFolder(this.#roots, path))
  }

  walk(path: string, signal: AbortSignal, options: Given<'walk'>[2] = {}) {
    return treeBelow(this.#roots, path, signal, options)
  }

  write(...given: Given<'write'>) {
    return this.#reviving(() => writeFile(this.#deps, ...given))
  }

  writeStream(...given: Given<'writeStream'>) {
    return writeStream(this.#deps, ...given)
  }

  append(...given: Given<'append'>) {
    return this.#reviving(() => appendFile(this.#deps, ...given))
  }

  copy(...given: Given<'copy'>) {
    return this.#reviving(() => copyPath(this.#deps, ...given))
  }

  move(...given: Given<'move'>) {
    return this.#reviving(() => movePath(this.#deps, ...given))
  }

  makeDirectory(...given: Given<'makeDirectory'>) {
    return this.#reviving(() => makeFolder(this.#roots, ...given))
  }

  trash(...given: Given<'trash'>) {
    return this.#reviving(() => this.#deps.trash.put(this.#roots, ...given))
  }

  async trashed(trashId: string) {
    return this.#deps.trash.look(this.#roots, trashId)
  }

  restore(trashId: string) {
    return this.#deps.trash.restore(this.#roots, trashId)
  }

  watch(...given: Given<'watch'>) {
    return watchPath(this.#deps.rootsNow, ...given)
  }

  pin(...given: Given<'pin'>) {
    return pinFolder(this.#roots, ...given)
  }

  fingerprint(...given: Given<'fingerprint'>) {
    return fingerprintOf(this.#roots, ...given)
  }

  get #roots() {
    return this.#deps.roots
  }

  async #reviving<T>(step: () => Awaitable<T>): Promise<T> {
    try {
      return await step()
    } catch (error) {
      return await this.#revived(error, step)
    }
  }

  /** A root that was deleted and made again is opened anew, and the step is tried once more. */
  async #revived<T>(error: unknown, step: () => Awaitable<T>): Promise<T> {
    if (!isMissing(error) || !this.#roots.revive()) throw error
    return await step()
  }
}
