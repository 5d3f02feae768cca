import { constants, fstatSync, ftruncateSync, openSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import { failure } from './failure.ts'
import { letGo } from './open.ts'
import { passToOwner } from './owner.ts'
import type { Roots } from './roots.ts'
import type { Temps } from './temps.ts'
import { chunksOf, fsyncOf, writeAll } from './transfer.ts'
import { openPlace, type Place, publishFile } from './write.ts'

const appendFlags =
  constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK

const copyAll = async (from: number, to: number): Promise<void> => {
  for await (const chunk of chunksOf(from)) await writeAll(to, chunk)
}

/** A partial append is taken back, unless somebody else has added to the file meanwhile. */
const takeBack = (fd: number, sizeBefore: number, bytes: Uint8Array): void => {
  const { size } = fstatSync(fd)
  if (size > sizeBefore && size < sizeBefore + bytes.length) ftruncateSync(fd, sizeBefore)
}

const appendInPlace = async (fd: number, bytes: Uint8Array): Promise<number> => {
  const { size } = fstatSync(fd)
  try {
    await writeAll(fd, bytes)
  } catch (error) {
    takeBack(fd, size, bytes)
    throw error
  }
  await fsyncOf(fd)
  return fstatSync(fd).size
}

const openForAppend = (place: Place, shown: string, denyHardlinks: boolean): number => {
  const make = place.old ? 0 : constants.O_CREAT
  const fd = openSync(place.dir.at + place.name, appendFlags | make, 0o666)
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

export const appendFile = async (
  deps: { readonly roots: Roots; readonly temps: Temps; readonly denyHardlinks: boolean },
  shown: string,
  bytes: Uint8Array,
): Promise<{ readonly path: string; readonly size_bytes: number }> => {
  const { denyHardlinks } = deps
  const place = openPlace(deps.roots, shown, { createParents: null, denyHardlinks })
  const { dir, path } = place
  try {
    const fd = openForAppend(place, shown, denyHardlinks)
    try {
      const { nlink, size } = fstatSync(fd)
      if (nlink === 1) {
        const size_bytes = await appendInPlace(fd, bytes)
        if (!place.old) await fsyncOf(dir.fd)
        return { path, size_bytes }
      }
      // @SECURITY Another name of the file may lie outside the roots and keeps its bytes; confinement.test.ts.
      await publishFile(deps.temps, place, { replace: true }, async (to) => {
        await copyAll(fd, to)
        await writeAll(to, bytes)
      })
      return { path, size_bytes: size + bytes.length }
    } finally {
      letGo(fd)
    }
  } catch (error) {
    throw failure(error, shown)
  } finally {
    dir.close()
  }
}
