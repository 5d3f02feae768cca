import {
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  openSync,
  readdirSync,
  readSync,
  rmdirSync,
  writeSync,
} from 'node:fs'
import { GatehouseError, TrashId } from '@gatehouse/contract'
import type { Clock } from '../ports/clock.ts'
import type { Fingerprint, Trashed, TrashedItem } from '../ports/files.ts'
import type { Ids } from '../ports/ids.ts'
import type { Dir } from './dir.ts'
import { eachByItself } from './each.ts'
import { openEntry } from './entry.ts'
import { codeOf, failure } from './failure.ts'
import { typeOf } from './look.ts'
import { trashName } from './names.ts'
import { letGo } from './open.ts'
import { componentsOf } from './paths.ts'
import { assertEntryPermitted } from './permitted-tree.ts'
import { repeating, verifyBound } from './print.ts'
import { rename } from './publish.ts'
import { removeTree } from './remove.ts'
import type { Root } from './root.ts'
import type { Roots } from './roots.ts'
import { fsyncOf } from './transfer.ts'
import { Walk } from './walk.ts'

/** How long deleted things can be restored. */
const keptMs = 7 * 24 * 60 * 60 * 1000
const sweepEveryMs = 60 * 60 * 1000
const metaBytesMax = 64 * 1024
const metaFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

type Meta = { readonly path: string; readonly deleted_at: number }

/** Opens a folder below, making it where asked; null when there is none. */
const below = (dir: Dir, name: string, make: boolean): Dir | null => {
  try {
    if (make) mkdirSync(dir.at + name, 0o700)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  try {
    return dir.child(name)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    const detail = 'its trash is not a folder; an operator has to look at it'
    throw new GatehouseError('ProtectedPath', { path: trashName, detail }, { cause: error })
  }
}

const writeMeta = (dir: Dir, meta: Meta): void => {
  const fd = openSync(`${dir.at}meta.json`, metaFlags, 0o600)
  try {
    writeSync(fd, JSON.stringify(meta))
    fsyncSync(fd)
  } finally {
    letGo(fd)
  }
}

/** Others can write in the trash too, so what stands in it is read like any input. */
const readMeta = (dir: Dir): Meta | null => {
  try {
    const fd = openSync(`${dir.at}meta.json`, readFlags)
    try {
      const { size } = fstatSync(fd)
      if (size > metaBytesMax) return null
      const bytes = Buffer.allocUnsafe(size)
      const meta: unknown = JSON.parse(bytes.toString('utf8', 0, readSync(fd, bytes, 0, size, 0)))
      if (typeof meta !== 'object' || meta === null) return null
      const { path, deleted_at } = meta as Partial<Meta>
      return typeof path === 'string' && typeof deleted_at === 'number'
        ? { path, deleted_at }
        : null
    } finally {
      letGo(fd)
    }
  } catch {
    return null
  }
}

/** Enough for a person to know how much it is. */
const entriesMax = 1000

const countEntries = (box: Dir): number => {
  const folder = box.child('item')
  try {
    const reader = opendirSync(folder.at)
    let entries = 0
    while (entries < entriesMax && reader.readSync()) entries += 1
    reader.closeSync()
    return entries
  } finally {
    folder.close()
  }
}

const goingPrefix = 'going-'

/** Name of a thing while it is deleted for good. */
const isGoing = (name: string): boolean =>
  name.startsWith(goingPrefix) && TrashId.safeParse(name.slice(goingPrefix.length)).success

/** In one step: whoever restores it has it whole, or finds it gone. */
const takeAway = (box: Dir, can: Dir, id: string): void => {
  try {
    rename({ dir: box, name: 'item' }, { dir: can, name: goingPrefix + id }, { replace: true })
  } catch (error) {
    // Restored just now, or by a process that was killed before it had cleared up.
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

/** Deletes for good what was kept long enough. */
const clearOld = async (can: Dir, id: string, now: number): Promise<void> => {
  const box = TrashId.safeParse(id).success ? below(can, id, false) : null
  if (!box) return
  try {
    const deletedAt = readMeta(box)?.deleted_at ?? lstatSync(box.at).mtimeMs
    if (now - deletedAt <= keptMs) return
    takeAway(box, can, id)
  } finally {
    box.close()
  }
  await removeTree(can, goingPrefix + id)
  await removeTree(can, id)
}

/** A sweep may have taken the empty box away already. */
const removeIfThere = (can: Dir, id: string): void => {
  try {
    rmdirSync(can.at + id)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

/** @SECURITY The id becomes part of a path, so it must look exactly like one of ours; files.test.ts. */
const missingOf = (trashId: string): GatehouseError => {
  const missing = new GatehouseError('TrashNotFound', { trash_id: trashId })
  if (!TrashId.safeParse(trashId).success) throw missing
  return missing
}

/** Trash of a root: deleted entries stay in it for some days, under a name that nobody can address. */
export class Trash {
  readonly #ids: Ids
  readonly #clock: Pick<Clock, 'wall' | 'now'>
  readonly #sweptAt = new WeakMap<Root, number>()

  constructor(deps: {
    readonly ids: Ids
    readonly clock: Pick<Clock, 'wall' | 'now'>
  }) {
    this.#ids = deps.ids
    this.#clock = deps.clock
  }

  async put(
    roots: Roots,
    shown: string,
    options: {
      readonly recursive: boolean
      readonly bound?: Fingerprint | null | undefined
    },
  ): Promise<Trashed> {
    const entry = openEntry(roots, shown)
    let can: Dir | null = null
    let box: Dir | null = null
    try {
      if (!options.recursive && entry.stat.isDirectory())
        this.#assertEmpty(entry.dir, entry.name, shown)
      if (options.recursive && entry.stat.isDirectory())
        await assertEntryPermitted(roots, entry, [{ path: entry.path, argument: 'path' }], shown)
      const { bound } = options
      const again = repeating(entry.path, Boolean(bound))
      while (!(await verifyBound([{ ...entry, bound }]))()) await again()
      const trash_id = this.#ids.next('trash')
      const deleted_at = this.#clock.wall()
      can = below(entry.root.dir, trashName, true) as Dir
      box = below(can, trash_id, true) as Dir
      writeMeta(box, { path: entry.names.join('/'), deleted_at })
      if (!entry.dir.holds() || !box.holds()) {
        throw new GatehouseError('PathOutOfScope', { path: shown })
      }
      rename(entry, { dir: box, name: 'item' }, { replace: true })
      for (const dir of [box, can, entry.dir]) await fsyncOf(dir.fd)
      // Clearing up is for later when it does not work now: the deletion itself is done.
      await this.sweep(entry.root).catch(() => undefined)
      const recoverable_until = new Date(deleted_at + keptMs).toISOString()
      return { trash_id, path: entry.path, recoverable_until }
    } catch (error) {
      throw failure(error, shown)
    } finally {
      entry.dir.close()
      can?.close()
      box?.close()
    }
  }

  look(roots: Roots, trashId: string): TrashedItem {
    const missing = missingOf(trashId)
    for (const root of roots.all) {
      const found = root.readOnly ? null : this.#lookIn(roots, root, trashId)
      if (found) return found
    }
    throw missing
  }

  async restore(roots: Roots, trashId: string): Promise<{ readonly path: string }> {
    const missing = missingOf(trashId)
    for (const root of roots.all) {
      if (root.readOnly) continue
      const restored = await this.#restoreIn(roots, root, trashId)
      if (restored) return restored
    }
    throw missing
  }

  /** Clears what was kept long enough. At most once an hour for each root. */
  async sweep(root: Root): Promise<void> {
    const now = this.#clock.wall()
    if (
      root.readOnly ||
      now - (this.#sweptAt.get(root) ?? Number.NEGATIVE_INFINITY) < sweepEveryMs
    ) {
      return
    }
    this.#sweptAt.set(root, now)
    const can = below(root.dir, trashName, false)
    if (!can) return
    try {
      await eachByItself(readdirSync(can.at), (name) =>
        isGoing(name) ? removeTree(can, name) : clearOld(can, name, now),
      )
    } finally {
      can.close()
    }
  }

  #assertEmpty(dir: Dir, name: string, shown: string): void {
    const folder = dir.child(name)
    try {
      const reader = opendirSync(folder.at)
      const first = reader.readSync()
      reader.closeSync()
      if (first) throw new GatehouseError('DirectoryNotEmpty', { path: shown })
    } finally {
      folder.close()
    }
  }

  #lookIn(roots: Roots, root: Root, trashId: string): TrashedItem | null {
    const can = below(root.dir, trashName, false)
    if (!can) return null
    let box: Dir | null = null
    try {
      box = below(can, trashId, false)
      const meta = box ? readMeta(box) : null
      const stat = box && lstatSync(`${box.at}item`, { throwIfNoEntry: false })
      if (!box || !meta || !stat) return null
      const names = componentsOf(meta.path)
      const deletedAt = new Date(meta.deleted_at)
      if (names.includes('..') || Number.isNaN(deletedAt.getTime())) return null
      const path = [root.path, ...names].join('/')
      if (roots.reach) roots.assertPermitted(path, meta.path)
      const type = typeOf(stat)
      return {
        path,
        type,
        size_bytes: type === 'file' ? stat.size : 0,
        entries: type === 'directory' ? countEntries(box) : null,
        deleted_at: deletedAt.toISOString(),
      }
    } finally {
      can.close()
      box?.close()
    }
  }

  async #restoreIn(
    roots: Roots,
    root: Root,
    trashId: string,
  ): Promise<{ readonly path: string } | null> {
    const can = below(root.dir, trashName, false)
    if (!can) return null
    let box: Dir | null = null
    let target: Dir | null = null
    try {
      box = below(can, trashId, false)
      const meta = box ? readMeta(box) : null
      if (!box || !meta) return null
      if (!lstatSync(`${box.at}item`, { throwIfNoEntry: false })) return null
      let path: string
      let name: string
      {
        const spot = { root, components: componentsOf(meta.path) }
        using walk = new Walk(roots, spot, meta.path, { intent: 'write', makeFolders: true })
        name = walk.asEntry()
        walk.assertPermitted()
        path = walk.path
        target = walk.takeDir()
      }
      const item = { dir: box, name: 'item' }
      try {
        if (lstatSync(`${box.at}item`).isDirectory())
          await assertEntryPermitted(roots, item, [{ path, argument: 'path' }], meta.path)
        rename(item, { dir: target, name }, { replace: false })
      } catch (error) {
        // A sweep has taken it away since it was found: its time has passed.
        if (!lstatSync(`${box.at}item`, { throwIfNoEntry: false })) return null
        throw failure(error, path)
      }
      await fsyncOf(target.fd)
      await removeTree(box, 'meta.json')
      removeIfThere(can, trashId)
      return { path }
    } finally {
      can.close()
      box?.close()
      target?.close()
    }
  }
}
