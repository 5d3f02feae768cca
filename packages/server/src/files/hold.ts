import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { HeldFolder } from '../ports/files.ts'
import { descriptorPathsWork } from './dir.ts'
import { saying } from './failure.ts'
import type { FolderRules } from './folder-rules.ts'
import { wayOf } from './way.ts'

/** Only names it: works for folders and files alike, and needs no right to read. Linux has it. */
const pathOnly = 0x200000

/** @SECURITY The descriptor is what was looked at, whatever its path leads to later; swapper.test.ts. */
export const holdGiven = (path: string, rules: Pick<FolderRules, 'grantFault'>): HeldFolder => {
  const refuse = (detail: string): GatehouseError =>
    new GatehouseError('InvalidConfiguration', { origin: path, detail })
  const way = wayOf(path)
  const fault = rules.grantFault(way)
  if (fault !== null) throw refuse(fault)
  // A system without these has no sandbox either: the program finds the folder by its path.
  if (!descriptorPathsWork) return { source: way.real, [Symbol.dispose]: () => {} }
  const fd = saying(path, () => openSync(way.real, pathOnly | constants.O_NOFOLLOW))
  const source = `/proc/self/fd/${fd}`
  // A link in its place is opened as itself.
  if (readlinkSync(source) !== way.real || fstatSync(fd).isSymbolicLink()) {
    closeSync(fd)
    throw refuse('its path goes through too many links, or changes while it is opened')
  }
  return { source, [Symbol.dispose]: () => closeSync(fd) }
}
