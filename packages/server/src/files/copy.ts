import { createHash } from 'node:crypto'
import {
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { CopyOptions, CopyResult } from '../ports/files.ts'
import type { Dir } from './dir.ts'
import { codeOf, failure } from './failure.ts'
import { entriesOf, openFolder } from './look.ts'
import { isGit } from './names.ts'
import { letGo, openFile, openThere } from './open.ts'
import { passToOwner } from './owner.ts'
import { depthMax } from './paths.ts'
import { assertSidesPermitted, type TreeSide } from './permitted-tree.ts'
import { assertBound, verifyBound } from './print.ts'
import { rename } from './publish.ts'
import type { Roots } from './roots.ts'
import type { Temps } from './temps.ts'
import { chunksOf, fsyncOf, writeAll } from './transfer.ts'
import { walkTo } from './walk.ts'
import { openPlace, type Place, type PublishOptions, publishFile } from './write.ts'

export const copyEntriesMax = 10_000

export type Deps = {
  readonly roots: Roots
  readonly temps: Temps
  readonly denyHardlinks: boolean
}

type Copied = { readonly size_bytes: number; readonly sha256: string }

const pour = async (from: number, to: number): Promise<Copied> => {
  const sum = createHash('sha256')
  let size_bytes = 0
  for await (const chunk of chunksOf(from)) {
    sum.update(chunk)
    size_bytes += chunk.length
    await writeAll(to, chunk)
  }
  return { size_bytes, sha256: sum.digest('hex') }
}

const destinationIn = ({ denyHardlinks }: Deps) => ({
  createParents: null,
  denyHardlinks,
  argument: 'destination',
})

/** The thing at a path, open: a regular file, or a folder. */
type Source =
  | { readonly kind: 'file'; readonly path: string; readonly fd: number; readonly mode: number }
  | { readonly kind: 'folder'; readonly path: string; readonly dir: Dir }

const openSource = (deps: Deps, shown: string): Source => {
  using walk = walkTo(deps.roots, shown, 'read', { argument: 'source' })
  try {
    const { fd, stat } = openFile(walk, shown, deps.denyHardlinks)
    return { kind: 'file', path: walk.path, fd, mode: stat.mode & 0o777 }
  } catch (error) {
    if (!(error instanceof GatehouseError) || error.type !== 'IsADirectory') throw error
    const dir = openFolder(walk, shown)
    return { kind: 'folder', path: walk.path, dir }
  }
}

const newFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

const copyOneFile = async (
  from: Dir,
  to: Dir,
  name: string,
  path: string,
  denyHardlinks: boolean,
): Promise<number> => {
  const source = openThere(from.at + name, readFlags)
  try {
    const stat = fstatSync(source)
    if (!stat.isFile()) throw new GatehouseError('NotARegularFile', { path })
    if (denyHardlinks && stat.nlink > 1) throw new GatehouseError('TooManyLinks', { path })
    const target = openSync(to.at + name, newFlags, 0o600)
    try {
      passToOwner(target, to)
      const { size_bytes } = await pour(source, target)
      fchmodSync(target, stat.mode & 0o777)
      await fsyncOf(target)
      return size_bytes
    } finally {
      letGo(target)
    }
  } finally {
    letGo(source)
  }
}

/** One folder of a tree that is copied: where it is, where it goes, and what was counted so far. */
type Level = {
  readonly roots: Roots
  readonly sides: readonly TreeSide[]
  readonly relative: string
  readonly count: { entries: number }
  readonly depth: number
  readonly denyHardlinks: boolean
}

/** Copies what a folder holds; links are copied as links, since a walk never trusts them anyway. */
const copyBelow = async (from: Dir, to: Dir, path: string, level: Level): Promise<number> => {
  const { roots, sides, count, depth } = level
  let size = 0
  if (depth > depthMax) {
    throw new GatehouseError('InvalidPath', { detail: `it is more than ${depthMax} folders deep` })
  }
  for (const { name, type } of await entriesOf(from, path)) {
    const below = `${path}/${name}`
    const relative = level.relative === '' ? name : `${level.relative}/${name}`
    assertSidesPermitted(roots, sides, relative, sides[0]?.path ?? path)
    if (++count.entries > copyEntriesMax) {
      throw new GatehouseError('QuotaExceeded', {
        limit: copyEntriesMax,
        what: 'entries in a copy',
      })
    }
    if (isGit(name)) {
      const detail = 'a repository is copied by git.clone'
      throw new GatehouseError('ProtectedPath', { path: below, detail })
    }
    if (type === 'symlink') symlinkSync(readlinkSync(from.at + name), to.at + name)
    else if (type === 'directory') {
      const source = from.child(name)
      try {
        mkdirSync(to.at + name)
        const target = to.child(name)
        try {
          passToOwner(target.fd, to)
          size += await copyBelow(source, target, below, {
            ...level,
            relative,
            depth: depth + 1,
          })
        } finally {
          target.close()
        }
      } finally {
        source.close()
      }
    } else if (type === 'file')
      size += await copyOneFile(from, to, name, below, level.denyHardlinks)
    else throw new GatehouseError('NotARegularFile', { path: below })
  }
  await fsyncOf(to.fd)
  return size
}

const copyFolder = async (
  deps: Deps,
  source: { readonly path: string; readonly dir: Dir },
  destination: string,
  bound: CopyOptions['bound'],
): Promise<CopyResult> => {
  const target = openFolderPlace(deps, destination)
  const { dir, name, path } = target
  try {
    if (path.startsWith(`${source.path}/`)) {
      throw new GatehouseError('InvalidPath', { detail: 'a folder cannot be copied into itself' })
    }
    const temp = await deps.temps.createFolder(dir)
    try {
      const staged = dir.child(temp)
      let size_bytes: number
      try {
        size_bytes = await copyBelow(source.dir, staged, source.path, {
          roots: deps.roots,
          sides: [
            { path: source.path, argument: 'source' },
            { path, argument: 'destination' },
          ],
          relative: '',
          count: { entries: 0 },
          depth: 0,
          denyHardlinks: deps.denyHardlinks,
        })
        fchmodSync(staged.fd, fstatSync(source.dir.fd).mode & 0o777)
      } finally {
        staged.close()
      }
      if (bound) await assertBound(source.dir.fd, source.path, bound.source)
      if (bound?.destination)
        await verifyBound([{ dir, name, path, bound: { ...bound.destination, link: null } }])
      rename({ dir, name: temp }, { dir, name }, { replace: false })
      deps.temps.published(temp)
      await fsyncOf(dir.fd)
      return { source: source.path, destination: path, size_bytes, sha256: null }
    } catch (error) {
      await deps.temps.drop(dir, temp)
      throw error
    }
  } finally {
    dir.close()
  }
}

/** Where a folder is to stand: nothing may be there yet, since folders are not merged. */
const openFolderPlace = (
  deps: Deps,
  shown: string,
): { readonly dir: Dir; readonly name: string; readonly path: string } => {
  try {
    const place = openPlace(deps.roots, shown, destinationIn(deps))
    if (!place.old) return place
    place.dir.close()
  } catch (error) {
    if (!(error instanceof GatehouseError) || error.type !== 'IsADirectory') throw error
  }
  throw new GatehouseError('AlreadyExists', { path: shown })
}

/** An open file, which is what was decided on, as a new file at a place. */
export const copyOpenFile = async (
  deps: Deps,
  source: { readonly path: string; readonly fd: number; readonly mode: number },
  place: Place,
  { overwrite, bound, ...how }: CopyOptions & Pick<PublishOptions, 'isEntry' | 'verify'>,
): Promise<CopyResult> => {
  let copied: Copied = { size_bytes: 0, sha256: '' }
  const { mode, path, fd: from } = source
  const options = { ...how, replace: overwrite, mode, bound: bound?.destination }
  await publishFile(deps.temps, place, options, async (fd) => {
    copied = await pour(from, fd)
    if (bound) await assertBound(from, path, bound.source)
  })
  return { source: path, destination: place.path, ...copied }
}

const copyFile = async (
  deps: Deps,
  source: Parameters<typeof copyOpenFile>[1],
  to: string,
  options: CopyOptions,
): Promise<CopyResult> => {
  const place = openPlace(deps.roots, to, destinationIn(deps))
  try {
    if (place.old && !options.overwrite) throw new GatehouseError('AlreadyExists', { path: to })
    return await copyOpenFile(deps, source, place, options)
  } finally {
    place.dir.close()
  }
}

export const copyPath = async (
  deps: Deps,
  from: string,
  to: string,
  options: CopyOptions,
): Promise<CopyResult> => {
  const source = openSource(deps, from)
  try {
    if (source.kind === 'folder') return await copyFolder(deps, source, to, options.bound)
    return await copyFile(deps, source, to, options)
  } catch (error) {
    throw failure(error, codeOf(error) === 'EEXIST' ? to : from)
  } finally {
    if (source.kind === 'file') letGo(source.fd)
    else source.dir.close()
  }
}
