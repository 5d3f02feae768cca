import { constants, fstatSync, ftruncateSync, openSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { Fingerprint } from '../ports/files.ts'
import { codeOf, failure } from './failure.ts'
import { letGo } from './open.ts'
import { passToOwner } from './owner.ts'
import { assertSameFile, look, sameVersion, stale } from './print.ts'
import type { Roots } from './roots.ts'
import type { Temps } from './temps.ts'
import { chunksOf, fsyncOf, writeAll } from './transfer.ts'
import { openPlace, type Place, publishFile } from './write.ts'

const appendFlags =
  constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** A partial append is taken back, unless somebody else has added to the file meanwhile. */
export const takeBack = (fd: number, sizeBefore: number, written: number): void => {
  if (written > 0 && fstatSync(fd).size === sizeBefore + written) ftruncateSync(fd, sizeBefore)
}

const appendInPlace = async (fd: number, bytes: Uint8Array): Promise<void> => {
  const { size } = fstatSync(fd)
  let written = 0
  try {
    await writeAll(fd, bytes, (done) => {
      written = done
    })
  } catch (error) {
    takeBack(fd, size, written)
    throw error
  }
  await fsyncOf(fd)
}

/** Opens what was seen at the place, or makes it there; where a person agreed to that, only if it is still missing. */
const openOrMake = ({ dir, name, path, old }: Place, isBound: boolean): number => {
  const make = old ? 0 : constants.O_CREAT | (isBound ? constants.O_EXCL : 0)
  try {
    return openSync(dir.at + name, appendFlags | make, 0o666)
  } catch (error) {
    throw isBound && codeOf(error) === 'EEXIST' ? stale(path) : error
  }
}

const openForAppend = (
  place: Place,
  shown: string,
  { denyHardlinks, isBound }: { readonly denyHardlinks: boolean; readonly isBound: boolean },
): number => {
  const fd = openOrMake(place, isBound)
  if (!place.old) passToOwner(fd, place.dir)
  const stat = fstatSync(fd)
  const type = !stat.isFile()
    ? 'NotARegularFile'
    : denyHardlinks && stat.nlink > 1
      ? 'TooManyLinks'
      : null
  if (type === null && place.dir.holds()) return fd
  letGo(fd)
  throw new GatehouseError(type ?? 'PathOutOfScope', { path: shown })
}

/** Raised where another file took the place of the one that was to be added to, or another writer added to that. */
class Overtaken extends Error {}

/** Few, since each may copy the whole file. */
const triesMax = 5

type Deps = { readonly roots: Roots; readonly temps: Temps; readonly denyHardlinks: boolean }
type Appended = { readonly path: string; readonly size_bytes: number }

/** Puts a longer copy in the place of a file that has further names; raises `Overtaken` where that is not it any more. */
const appendToCopy = async (
  temps: Temps,
  place: Place,
  fd: number,
  bytes: Uint8Array,
): Promise<number> => {
  const seen = fstatSync(fd, { bigint: true })
  const at = place.dir.at + place.name
  const isSame = () => sameVersion(seen, look(at))
  const verify = async () => {
    if (!isSame()) throw new Overtaken()
    return isSame
  }
  await publishFile(temps, place, { replace: true, verify }, async (to) => {
    for await (const chunk of chunksOf(fd)) {
      await writeAll(to, chunk)
      await verify()
    }
    await writeAll(to, bytes)
  })
  return Number(seen.size) + bytes.length
}

const appendOnce = async (
  { roots, temps, denyHardlinks }: Deps,
  shown: string,
  bytes: Uint8Array,
  bound: Fingerprint | null | undefined,
): Promise<Appended> => {
  const place = openPlace(roots, shown, { createParents: null, denyHardlinks })
  const { dir, path, old } = place
  try {
    if (bound && !old) assertSameFile(null, path, bound)
    const fd = openForAppend(place, shown, { denyHardlinks, isBound: Boolean(bound) })
    try {
      if (bound && old) assertSameFile(fd, path, bound)
      // @SECURITY Another name of the file may lie outside the roots and keeps its bytes; confinement.test.ts.
      if (fstatSync(fd).nlink > 1)
        return { path, size_bytes: await appendToCopy(temps, place, fd, bytes) }
      await appendInPlace(fd, bytes)
      const { nlink, size } = fstatSync(fd)
      // Nobody finds it in a file that has no name any more: what stands in its place has to get it. It has it twice
      // then, where whoever put that there had read it already: at least once, since not at all would be worse.
      if (nlink === 0) throw new Overtaken()
      if (!old) await fsyncOf(dir.fd)
      return { path, size_bytes: size }
    } finally {
      letGo(fd)
    }
  } catch (error) {
    throw failure(error, shown)
  } finally {
    dir.close()
  }
}

export const appendFile = async (
  deps: Deps,
  shown: string,
  bytes: Uint8Array,
  { bound }: { readonly bound?: Fingerprint | null | undefined } = {},
): Promise<Appended> => {
  for (let tries = 1; ; tries += 1)
    try {
      return await appendOnce(deps, shown, bytes, bound)
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error
      if (tries < triesMax) continue
      const detail = 'others write to the file without a pause'
      throw new GatehouseError('Overloaded', { detail }, { cause: error })
    }
}
