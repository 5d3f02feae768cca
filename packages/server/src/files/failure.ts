import { constants } from 'node:os'
import { type ErrorType, type Facts, GatehouseError } from '@gatehouse/contract'

type Told = readonly [ErrorType, Facts?]

/** Failures of the operating system, in our words. Everything not named here is a fault of our own. */
const told: Readonly<Record<string, Told>> = {
  ENOENT: ['FileNotFound'],
  ENOTDIR: ['NotADirectory'],
  EISDIR: ['IsADirectory'],
  EEXIST: ['AlreadyExists'],
  ENOTEMPTY: ['DirectoryNotEmpty'],
  EACCES: ['PermissionRefused'],
  EPERM: ['PermissionRefused'],
  EROFS: ['ReadOnlyRoot'],
  ENOSPC: ['StorageFull'],
  EDQUOT: ['StorageFull'],
  EFBIG: ['StorageFull'],
  ENXIO: ['NotARegularFile'],
  ENODEV: ['NotARegularFile'],
  EOPNOTSUPP: ['NotARegularFile'],
  ELOOP: ['InvalidPath', { detail: 'it goes through too many links' }],
  ENAMETOOLONG: ['InvalidPath', { detail: 'a name is longer than the file system allows' }],
  EINVAL: ['InvalidPath', { detail: 'the file system does not accept it' }],
  EXDEV: ['ProtectedPath', { detail: 'another device is mounted there' }],
  EBUSY: ['ProtectedPath', { detail: 'the operating system is using it' }],
  EMFILE: ['Overloaded', { detail: 'too many files are open' }],
  ESTALE: ['Overloaded', { detail: 'another machine is replacing it' }],
  ENFILE: ['Overloaded', { detail: 'too many files are open' }],
}

/** Node has no name for it: the file was replaced by another client of a network file system, which tells it late. */
const isStale = (error: Error): boolean =>
  'errno' in error && error.errno === -constants.errno.ESTALE

export const codeOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string'))
    return undefined
  return isStale(error) ? 'ESTALE' : error.code
}

/** The one place where an errno becomes an error that a caller can act on. */
export const failure = (error: unknown, path: string): unknown => {
  const known = told[codeOf(error) ?? '']
  if (!known || error instanceof GatehouseError) return error
  return new GatehouseError(known[0], { path, ...known[1] }, { cause: error })
}

/** Runs one step, its errno put into words about `path`. */
export const saying = <T>(path: string, step: () => T): T => {
  try {
    return step()
  } catch (error) {
    throw failure(error, path)
  }
}
