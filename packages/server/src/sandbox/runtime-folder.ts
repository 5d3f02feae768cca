import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { SandboxMount } from '../ports/sandbox.ts'
import { insideUid } from './arguments.ts'
import { type Launcher, loadLauncher } from './load-launcher.ts'
import { createFilter, type FilterOptions } from './seccomp.ts'
import type { Machine } from './syscalls.ts'
import type { SystemView } from './system-view.ts'

/** Stand-ins for files of the host that nobody inside may see. */
const ours = {
  passwd: `nobody:x:${insideUid}:${insideUid}:nobody:/tmp:/bin/sh\n`,
  group: `nogroup:x:${insideUid}:\n`,
  hosts: '127.0.0.1 localhost gatehouse\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
} as const

/** Made below `base`, where nobody but the service comes; everybody may read what is in it. */
const publicFolder = (base: string, path: string): void => {
  if (path === base) return
  publicFolder(base, dirname(path))
  mkdirSync(path, { recursive: true })
  chmodSync(path, 0o755)
}

const publicFile = (file: string, text: string | null, from: string): void => {
  if (text === null) copyFileSync(from, file)
  else writeFileSync(file, text)
  chmodSync(file, 0o644)
}

/** The `/etc` of every sandbox: our own files, copies of harmless ones, and places to mount the others at. */
const makeEtc = (folder: string, system: SystemView): void => {
  const place = (path: string) => join(folder, path)
  publicFolder(folder, place('/etc'))
  for (const [name, text] of Object.entries(ours)) publicFile(place(`/etc/${name}`), text, '')
  for (const path of system.copied) {
    publicFolder(folder, dirname(place(path)))
    publicFile(place(path), null, path)
  }
  for (const path of system.shown) {
    if (statSync(path).isDirectory()) publicFolder(folder, place(path))
    else {
      publicFolder(folder, dirname(place(path)))
      publicFile(place(path), '', '')
    }
  }
}

/** Launchers in files; whether everybody may read them, as inside of bubblewrap one must. */
const kept = {
  init: 0o644,
  'init-relay': 0o644,
  'root-launcher': 0o600,
  landlock: 0o600,
} as const satisfies Partial<Record<Launcher, number>>

/** The files that every sandbox is made with, written once into a folder of the service. */
export class RuntimeFolder {
  readonly #folder: string
  readonly #filters = new Map<string, string>()
  readonly etc: SandboxMount

  constructor(folder: string, machine: Machine, system: SystemView) {
    this.#folder = folder
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    makeEtc(folder, system)
    this.etc = { source: join(folder, 'etc'), target: '/etc', writable: false }
    for (const [name, mode] of Object.entries(kept))
      this.#keep(`${name}.pl`, loadLauncher(name as keyof typeof kept, machine), mode)
  }

  /** A descriptor that Perl reads a launcher from. The caller closes it. */
  openLauncher(name: keyof typeof kept): number {
    return openSync(join(this.#folder, `${name}.pl`), 'r')
  }

  /** A descriptor that reads the filter from its beginning. The caller closes it. */
  openFilter(options: FilterOptions): number {
    const shared = options.shared ? ['shared'] : []
    const key = [options.sockets, ...shared, ...(options.without ?? [])]
      .join('-')
      .replaceAll(' ', '-')
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
    writeFileSync(temporary, content, { mode })
    chmodSync(temporary, mode)
    renameSync(temporary, file)
    return file
  }
}
