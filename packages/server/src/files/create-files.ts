import type { Files } from '../ports/files.ts'
import { appendFile } from './append.ts'
import { copyPath, type Deps } from './copy.ts'
import { fingerprintOf } from './fingerprint.ts'
import { canLeadTo, locate, reaches } from './locate.ts'
import { listFolder, statPath } from './look.ts'
import { makeFolder } from './make-folder.ts'
import { movePath } from './move.ts'
import { pinFolder } from './pin.ts'
import { isMissing } from './place-walk.ts'
import { readFile } from './read.ts'
import type { Trash } from './trash.ts'
import { treeBelow } from './tree.ts'
import { watchPath } from './watch.ts'
import { writeFile } from './write.ts'
import { writeStream } from './write-stream.ts'

/** Operations of an agent on its folders. */
export const createFiles = (deps: Deps & { readonly trash: Trash }): Files => {
  const { roots, denyHardlinks, trash } = deps

  /** A root that was deleted and made again is opened anew, and the step is tried once more. */
  const reviving = async <T>(step: () => T | Promise<T>): Promise<T> => {
    try {
      return await step()
    } catch (error) {
      if (!isMissing(error) || !roots.revive()) throw error
      return await step()
    }
  }

  return {
    resolve: (path) => roots.resolve(path),
    locate: (path, options) => locate(roots, path, options?.entry),
    reaches: (path, intent) => reaches(roots, path, intent),
    asks: roots.reach !== null,
    permits: (place) => roots.permits(place),
    mayRead: (place) => roots.reach?.reads(roots.told(place)) ?? true,
    mayWrite: (place) => roots.reach?.writes(roots.told(place)) ?? true,
    canLeadTo: (path, beginning) => canLeadTo(roots, path, beginning),
    read: (path, options) => reviving(() => readFile(roots, path, options, denyHardlinks)),
    stat: async (path) => statPath(roots, path) ?? (roots.revive() ? statPath(roots, path) : null),
    list: (path) => reviving(() => listFolder(roots, path)),
    walk: (path, signal, options = {}) => treeBelow(roots, path, signal, options),
    write: (path, bytes, options) => reviving(() => writeFile(deps, path, bytes, options)),
    writeStream: (path, chunks, options) => writeStream(deps, path, chunks, options),
    append: (path, bytes) => reviving(() => appendFile(deps, path, bytes)),
    copy: (from, to, options) => reviving(() => copyPath(deps, from, to, options)),
    move: (from, to, options) => reviving(() => movePath(deps, from, to, options)),
    makeDirectory: (path, options) => reviving(() => makeFolder(roots, path, options)),
    trash: (path, options) => reviving(() => trash.put(roots, path, options)),
    trashed: async (trashId) => trash.look(roots, trashId),
    restore: (trashId) => trash.restore(roots, trashId),
    watch: (path, options, listener, withheld) =>
      watchPath(roots, path, options, listener, withheld),
    pin: (path, options) => pinFolder(roots, path, options),
    fingerprint: (path, options) => fingerprintOf(roots, path, options),
  }
}
