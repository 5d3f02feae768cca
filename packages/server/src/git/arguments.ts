import { GatehouseError } from '@gatehouse/contract'

const refCharsMax = 250

const invalidRef = (ref: string, detail: string): GatehouseError =>
  new GatehouseError('InvalidRef', { ref: ref.slice(0, refCharsMax), detail })

// Characters beyond the name of a commit; ranges, searches by message and files of a commit are other things.
const unusual = /[\p{Cc}\p{Cf}\s:\\*?[]|\.\./u

/**
 * Refuses what is no plain name of a commit, before git sees it.
 * @SECURITY A value that starts with a dash is an option to whatever reads it; git-attacks.test.ts.
 */
export const assertRef = (ref: string): string => {
  if (ref === '') throw invalidRef(ref, 'it is empty')
  if (ref.length > refCharsMax) throw invalidRef(ref, `it has more than ${refCharsMax} characters`)
  if (ref.startsWith('-')) throw invalidRef(ref, 'it starts with a dash')
  if (unusual.test(ref) || !ref.isWellFormed()) {
    throw invalidRef(ref, 'give one branch, tag or commit, such as main, v1.2, HEAD~3 or a hash')
  }
  return ref
}

const badComponent = (name: string): boolean =>
  name === '' || name.startsWith('.') || name.endsWith('.lock') || name.endsWith('.')

/** The rules of `git check-ref-format --branch`, and no expression that stands for another name. */
export const assertBranchName = (name: string): string => {
  assertRef(name)
  const isBad =
    /[~^]|@\{/.test(name) || name === '@' || name === 'HEAD' || name.split('/').some(badComponent)
  if (isBad) throw invalidRef(name, 'git does not take this as the name of a branch')
  return name
}

const remoteName = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/

/** The name of a remote of the configuration. */
export const assertRemoteName = (name: string): string => {
  if (remoteName.test(name) && !name.includes('..')) return name
  throw new GatehouseError('UrlNotAllowed', {
    detail: 'a remote is a plain name such as origin, or an https address',
  })
}

/** A path inside the repository as git wants it: relative, `/` between names, and literal. */
export const repoFile = (repository: string, file: string): string => {
  const inside = file.startsWith(`${repository}/`) ? file.slice(repository.length + 1) : file
  if (inside.startsWith('/')) throw new GatehouseError('PathOutOfScope', { path: file })
  if (/\0/.test(inside) || !inside.isWellFormed() || Buffer.byteLength(inside) > 4096) {
    throw new GatehouseError('InvalidPath', { detail: 'a name of a file is not usable' })
  }
  const names = inside.split('/').filter((name) => name !== '' && name !== '.')
  if (names.includes('..')) throw new GatehouseError('PathOutOfScope', { path: file })
  if (names.some((name) => name.toLowerCase() === '.git')) {
    const detail = 'what git keeps about a repository is no file of it'
    throw new GatehouseError('ProtectedPath', { path: file, detail })
  }
  return names.length === 0 ? '.' : names.join('/')
}

const identityCharsMax = 200

/** A name or address of an author: what git would silently drop or misread is refused. */
export const assertIdentity = (field: string, value: string): string => {
  const isBad =
    /[\p{Cc}<>]/u.test(value) ||
    value.trim() === '' ||
    value.length > identityCharsMax ||
    !value.isWellFormed()
  if (!isBad) return value
  throw new GatehouseError('InvalidArguments', {
    capability: 'git.commit',
    detail: `${field} has 1 to ${identityCharsMax} characters, none of them <, > or a line break`,
  })
}
