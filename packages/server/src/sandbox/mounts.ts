import { closeSync, fstatSync, openSync, readlinkSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { SandboxMount } from '../ports/sandbox.ts'

/** Only names it: works for folders, files and sockets alike, and needs no right to read. */
const pathOnly = 0x200000

/** A mount held open, so that what was looked at is what gets mounted. */
export type OpenMount = {
  readonly descriptor: number
  /** Where it really is. */
  readonly path: string
  readonly target: string
  readonly writable: boolean
  readonly uid: number
  readonly isFolder: boolean
  readonly device: string
  readonly inode: string
}

const refuse = (detail: string): never => {
  throw new GatehouseError('SandboxRefused', { detail })
}

const ofTheSystem = /^\/(proc|sys|dev|etc|bin|sbin|lib|lib32|lib64|libx32)(\/|$)|^\/(usr|tmp)$/

const assertTarget = (target: string): void => {
  if (!target.startsWith('/') || /\/\/|\/\.\.?(\/|$)|\0/.test(target) || target.endsWith('/'))
    refuse(`${target} is no plain absolute path`)
  if (ofTheSystem.test(target)) refuse(`${target} belongs to the system`)
}

const openSource = (source: string): number => {
  try {
    return openSync(source, pathOnly)
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code)) throw cause
    throw new GatehouseError('FileNotFound', { path: source }, { cause })
  }
}

const openMount = (mount: SandboxMount, isOurs: boolean): OpenMount => {
  const descriptor = openSource(mount.source)
  try {
    const stat = fstatSync(descriptor, { bigint: true })
    const path = readlinkSync(`/proc/self/fd/${descriptor}`)
    const target = mount.target ?? (mount.source.startsWith('/proc/self/fd/') ? path : mount.source)
    if (!isOurs) assertTarget(target)
    if (stat.nlink === 0n) throw new GatehouseError('FileNotFound', { path: target })
    if (path === '/') refuse('the whole file system is not mounted')
    return {
      descriptor,
      path,
      target,
      writable: mount.writable,
      uid: Number(stat.uid),
      isFolder: stat.isDirectory(),
      device: String(BigInt.asUintN(64, stat.dev)),
      inode: String(BigInt.asUintN(64, stat.ino)),
    }
  } catch (cause) {
    closeSync(descriptor)
    throw cause
  }
}

export class OpenMounts implements Disposable {
  readonly all: OpenMount[] = []

  /** `ours`: what every sandbox has, at places that nothing else is mounted at. */
  constructor(ours: readonly SandboxMount[], mounts: readonly SandboxMount[]) {
    try {
      for (const mount of ours) this.all.push(openMount(mount, true))
      for (const mount of mounts) this.all.push(openMount(mount, false))
      const targets = new Set(this.all.map(({ target }) => target))
      if (targets.size < this.all.length) refuse('two mounts have the same place')
    } catch (cause) {
      this[Symbol.dispose]()
      throw cause
    }
  }

  [Symbol.dispose](): void {
    for (const { descriptor } of this.all.splice(0)) closeSync(descriptor)
  }
}
