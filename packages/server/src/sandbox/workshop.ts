import { mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SandboxMount } from '../ports/sandbox.ts'
import { insideUid } from './arguments.ts'
import { createFilter, type FilterOptions } from './seccomp.ts'

/** What stands for files of the host that nobody inside may see. */
const etc = {
  passwd: `nobody:x:${insideUid}:${insideUid}:nobody:/tmp:/bin/sh\n`,
  group: `nogroup:x:${insideUid}:\n`,
  hosts: '127.0.0.1 localhost gatehouse\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
} as const

/** The small files that every sandbox is made with, written once into a folder of the service. */
export class Workshop {
  readonly #folder: string
  readonly #filters = new Map<string, string>()
  readonly mounts: readonly SandboxMount[]

  constructor(folder: string) {
    this.#folder = folder
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.mounts = Object.entries(etc).map(([name, text]) => ({
      source: this.#keep(name, text, 0o644),
      target: `/etc/${name}`,
      writable: false,
    }))
  }

  /** A descriptor that reads the filter from its beginning. The caller closes it. */
  openFilter(options: FilterOptions): number {
    const key = [options.sockets, ...(options.without ?? [])].join('-').replaceAll(' ', '-')
    let file = this.#filters.get(key)
    if (file === undefined) {
      file = this.#keep(`filter-${key}`, createFilter(options), 0o600)
      this.#filters.set(key, file)
    }
    return openSync(file, 'r')
  }

  #keep(name: string, content: string | Uint8Array, mode: number): string {
    const file = join(this.#folder, name)
    const temporary = `${file}.${process.pid}`
    rmSync(temporary, { force: true })
    writeFileSync(temporary, content, { mode, flag: 'wx' })
    renameSync(temporary, file)
    return file
  }
}
