import { createHash, randomBytes } from 'node:crypto'
import { constants, lstatSync, mkdirSync, opendirSync, openSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Dir } from './dir.ts'
import { codeOf } from './failure.ts'
import { identityOf } from './identity.ts'
import { isTempName, tempPrefix } from './names.ts'
import { passFolderToOwner, passToOwner } from './owner.ts'
import { Slice } from './pause.ts'
import { removeTree } from './remove.ts'

const foreignAgeMs = 60 * 60 * 1000
const sweptMax = 10_000

const host = createHash('sha256').update(hostname()).digest('hex').slice(0, 4)
const createFlags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) !== 'ESRCH'
  }
}

/** Files that are being written now, by any factory of this process. */
const live = new Set<string>()

/**
 * The half-written files of this process. The name says which process of which machine made one, so that
 * one left by a killed process is told from one that is being written.
 */
export class Temps {
  readonly #swept = new Set<string>()

  #name(): string {
    const name = `${tempPrefix}${host}-${process.pid.toString(36)}-${randomBytes(8).toString('hex')}`
    live.add(name)
    return name
  }

  /** An empty file that only we can read, still under a name that nobody can address. */
  async createFile(dir: Dir): Promise<{ readonly name: string; readonly fd: number }> {
    await this.sweep(dir)
    const name = this.#name()
    try {
      const fd = openSync(dir.at + name, createFlags, 0o600)
      passToOwner(fd, dir)
      return { name, fd }
    } catch (error) {
      live.delete(name)
      throw error
    }
  }

  async createFolder(dir: Dir): Promise<string> {
    await this.sweep(dir)
    const name = this.#name()
    try {
      mkdirSync(dir.at + name, 0o700)
      passFolderToOwner(name, dir)
      return name
    } catch (error) {
      live.delete(name)
      throw error
    }
  }

  /** The file stands under its own name now. */
  published(name: string): void {
    live.delete(name)
  }

  /** The file was given up: its temporary name goes. */
  async drop(dir: Dir, name: string): Promise<void> {
    try {
      await removeTree(dir, name)
    } finally {
      live.delete(name)
    }
  }

  /** Removes what a killed process left in this folder; once for each folder, while it is written first. */
  async sweep(dir: Dir): Promise<void> {
    const key = identityOf(dir.fd)
    if (this.#swept.has(key)) return
    if (this.#swept.size >= sweptMax) this.#swept.clear()
    this.#swept.add(key)
    const slice = new Slice()
    const reader = opendirSync(dir.at, { bufferSize: 256 })
    const stale: string[] = []
    try {
      for (let next = reader.readSync(); next; next = reader.readSync()) {
        if (isTempName(next.name) && this.isStale(dir, next.name)) stale.push(next.name)
        if (slice.isDue()) await slice.rest()
      }
    } finally {
      reader.closeSync()
    }
    for (const name of stale) await removeTree(dir, name)
  }

  isStale(dir: Dir, name: string): boolean {
    if (live.has(name)) return false
    const stat = lstatSync(dir.at + name, { throwIfNoEntry: false })
    if (!stat) return false
    // A process number says nothing about another machine, and may have been given out again.
    if (Date.now() - stat.mtimeMs > foreignAgeMs) return true
    const [, madeOn, pid] = name.slice(1).split('-') as [string, string, string, string]
    if (madeOn !== host) return false
    const maker = Number.parseInt(pid, 36)
    return maker === process.pid || !isAlive(maker)
  }
}
