import { linkSync, lstatSync, mkdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import type { Dir } from './dir.ts'
import { codeOf } from './failure.ts'

export type Name = { readonly dir: Dir; readonly name: string }

const at = ({ dir, name }: Name): string => dir.at + name

const alreadyThere = (): Error => Object.assign(new Error('EEXIST'), { code: 'EEXIST' })

/** File systems without hard links: the check and the rename are two steps there. */
const renameIfFree = (from: Name, to: Name): void => {
  if (lstatSync(at(to), { throwIfNoEntry: false })) throw alreadyThere()
  renameSync(at(from), at(to))
}

const linkIfFree = (from: Name, to: Name): void => {
  try {
    linkSync(at(from), at(to))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EPERM' || code === 'EOPNOTSUPP' || code === 'ENOTSUP' || code === 'EMLINK') {
      renameIfFree(from, to)
      return
    }
    throw error
  }
  unlinkSync(at(from))
}

/** A rename takes the place of an empty folder, and making that folder fails when anything stands there. */
const moveFolderIfFree = (from: Name, to: Name): void => {
  mkdirSync(at(to))
  try {
    renameSync(at(from), at(to))
  } catch (error) {
    rmdirSync(at(to))
    throw error
  }
}

/** Gives a thing another name, in one step; unless `replace`, never over anything that stands there. */
export const rename = (from: Name, to: Name, options: { readonly replace: boolean }): void => {
  if (options.replace) renameSync(at(from), at(to))
  else if (lstatSync(at(from)).isDirectory()) moveFolderIfFree(from, to)
  else linkIfFree(from, to)
}
