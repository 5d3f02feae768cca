import { fstatSync, mkdirSync, realpathSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import { Dir, mountOf } from './dir.ts'
import { codeOf } from './failure.ts'
import { componentsOf } from './paths.ts'

const forbidden = ['/proc', '/sys', '/dev']

const isUnder = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`)

/** One folder given to an agent, held open. */
export class Root {
  /** As the operator wrote it, without a slash at the end. */
  readonly path: string
  readonly readOnly: boolean
  /** Roots of the same agent that lie inside this one; they keep their own rules. */
  inner: readonly Root[] = []
  /** The spellings under which an absolute path is recognised: as given, and its real path. */
  spellings: readonly (readonly string[])[]
  dev = -1
  ino = -1
  readonly #byPath: boolean
  #dir: Dir | null = null
  #mount: string | null = null
  #closed = false

  constructor(
    folder: { readonly path: string; readonly readOnly: boolean; readonly make: boolean },
    byPath: boolean,
  ) {
    const refuse = (detail: string): GatehouseError =>
      new GatehouseError('InvalidConfiguration', { origin: folder.path, detail })
    if (!folder.path.startsWith('/')) throw refuse('a folder for an agent is an absolute path')
    const components = componentsOf(folder.path)
    if (components.includes('..')) throw refuse('a folder for an agent has no ".." in its path')
    if (components.length === 0) throw refuse('the whole file system is not given to an agent')
    this.path = `/${components.join('/')}`
    this.readOnly = folder.readOnly
    this.spellings = [components]
    this.#byPath = byPath
    if (forbidden.some((f) => isUnder(this.path, f)))
      throw refuse('it is part of the system itself')
    if (folder.make) mkdirSync(this.path, { recursive: true, mode: 0o700 })
    try {
      this.#open()
    } catch (error) {
      // A mount that is not there yet must not take the agent's other folders with it.
      if (codeOf(error) === undefined) throw error
    }
  }

  #open(): Dir {
    const real = realpathSync(this.path)
    if (real === '/' || forbidden.some((f) => isUnder(real, f))) {
      const detail = 'it leads into the system itself'
      throw new GatehouseError('InvalidConfiguration', { origin: this.path, detail })
    }
    const dir = Dir.open(real, this.#byPath)
    const stat = fstatSync(dir.fd)
    this.dev = stat.dev
    this.ino = stat.ino
    this.#mount = mountOf(dir.fd)
    this.#dir = dir
    const given = this.spellings[0] as readonly string[]
    this.spellings = real === this.path ? [given] : [given, componentsOf(real)]
    return dir
  }

  /** The open folder. Only to be used before the next await: after it, the root may be closed. */
  get dir(): Dir {
    if (this.#dir) return this.#dir
    if (this.#closed) throw new GatehouseError('PathOutOfScope', { path: this.path })
    return this.#open()
  }

  /** Opens the folder anew if it was deleted meanwhile; says whether it was. */
  revive(): boolean {
    if (this.#closed || !this.#dir || fstatSync(this.#dir.fd).nlink > 0) return false
    this.#dir.close()
    this.#dir = null
    try {
      this.#open()
      return true
    } catch {
      return false
    }
  }

  /** @SECURITY Folders that another device brings into the root were not given to the agent; confinement.test.ts. */
  assertSameMount(fd: number, dev: number, path: string): void {
    if (dev === this.dev) return
    // Overlays report other device numbers for their files; the mount tells them from a real one.
    if (this.#mount !== null && mountOf(fd) === this.#mount) return
    throw new GatehouseError('ProtectedPath', { path, detail: 'another device is mounted there' })
  }

  /** How many components of an absolute path name this root; -1 when it lies elsewhere. */
  prefixOf(components: readonly string[]): number {
    for (const spelling of this.spellings) {
      if (spelling.every((name, i) => name === components[i])) return spelling.length
    }
    return -1
  }

  contains(other: Root): boolean {
    return other !== this && other.spellings.some((s) => this.prefixOf(s) >= 0)
  }

  close(): void {
    this.#closed = true
    this.#dir?.close()
    this.#dir = null
  }
}
