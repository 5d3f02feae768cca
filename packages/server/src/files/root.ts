import { fstatSync, mkdirSync, statSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import { Dir, mountOf } from './dir.ts'
import { codeOf } from './failure.ts'
import { isOfSystem } from './folder-rules.ts'
import { identityOf, named } from './identity.ts'
import { componentsOf } from './paths.ts'
import { type Way, wayOf } from './way.ts'

type Names = readonly string[]

const isThere = ({ fd }: Dir): boolean => {
  try {
    return fstatSync(fd).nlink > 0
  } catch (error) {
    if (codeOf(error) === 'ESTALE') return false
    throw error
  }
}

/** Names after a beginning; null where it is another one. */
const restAfter = (names: Names, beginning: Names): Names | null =>
  beginning.every((name, i) => name === names[i]) ? names.slice(beginning.length) : null

/** One folder given to an agent, held open. */
export class Root {
  /** As the operator wrote it, without a slash at the end. */
  readonly path: string
  readonly readOnly: boolean
  /** Roots of the same agent that lie inside this one; they keep their own rules. */
  inner: readonly Root[] = []
  /** Told whenever the folder was opened, before it is used. */
  opened: () => void = () => {}
  /** As given, and its real path where that is another. */
  #own: readonly [Names, ...Names[]]
  /** The spellings under which an absolute path is recognised: its own, and those through other folders of the agent. */
  spellings: readonly Names[]
  dev = -1
  /** Empty while it is not open. */
  identity = ''
  readonly #byPath: boolean
  readonly #faultOf: (way: Way) => string | null
  #dir: Dir | null = null
  #mount: string | null = null
  #closed = false

  constructor(
    folder: {
      readonly path: string
      readonly readOnly: boolean
      readonly make: boolean
      /** Why it is refused where its path leads this way. */
      readonly faultOf: (way: Way) => string | null
    },
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
    this.#own = [components]
    this.spellings = this.#own
    this.#byPath = byPath
    this.#faultOf = folder.faultOf
    if (isOfSystem(this.path)) throw refuse('it is part of the system itself')
    if (folder.make) mkdirSync(this.path, { recursive: true, mode: 0o700 })
    try {
      this.#open()
    } catch (error) {
      // A mount that is not there yet must not take the agent's other folders with it.
      if (codeOf(error) === undefined) throw error
    }
  }

  #open(): Dir {
    const refuse = (detail: string): GatehouseError =>
      new GatehouseError('InvalidConfiguration', { origin: this.path, detail })
    const way = wayOf(this.path)
    const fault = this.#faultOf(way)
    if (fault !== null) throw refuse(fault)
    const { real } = way
    const dir = Dir.open(real, this.#byPath)
    // @SECURITY The folder that was looked at is what is open, whoever changes links meanwhile; swapper.test.ts.
    if (dir.place() !== real) {
      dir.close()
      throw refuse('its path changes while it is opened')
    }
    const stat = fstatSync(dir.fd)
    this.dev = stat.dev
    this.identity = identityOf(dir.fd)
    this.#mount = mountOf(dir.fd)
    this.#dir = dir
    this.#spell(real)
    try {
      this.opened()
      return dir
    } catch (error) {
      this.#dir = null
      this.dev = -1
      this.identity = ''
      this.#spell(this.path)
      dir.close()
      throw error
    }
  }

  #spell(real: string): void {
    const [given] = this.#own
    this.#own = real === this.path ? [given] : [given, componentsOf(real)]
    this.spellings = this.#own
  }

  /** Takes note of the other folders of the same agent, as they are open now. */
  relate(all: readonly Root[]): void {
    this.inner = all.filter((other) => this.#wayTo(other) !== null)
    const through = all.flatMap((outer) => {
      const way = outer.#wayTo(this)
      return way === null ? [] : outer.#own.map((names) => [...names, ...way])
    })
    this.spellings = [...this.#own, ...through]
  }

  /** Names from here down to another folder of the agent, without links if it is there; null where it lies elsewhere. */
  #wayTo(other: Root): Names | null {
    if (other === this) return null
    for (const names of other.#own.toReversed())
      for (const own of this.#own) {
        const way = restAfter(names, own)
        if (way !== null) return way
      }
    return null
  }

  /** @SECURITY A link in a folder that the agent can write leads wherever the agent wants; confinement.test.ts. */
  assertNoLinkIn(outer: Root): void {
    if (outer === this || outer.readOnly) return
    outer.revive()
    if (!outer.#dir || !this.#dir) return
    for (const names of outer.#own) {
      const way = restAfter(this.#own[0], names)
      if (way === null || this.#isAtEnd(outer.#dir, way)) continue
      const detail = `a link in ${outer.path} leads to it, which the agent can change`
      throw new GatehouseError('InvalidConfiguration', { origin: this.path, detail })
    }
  }

  #isAtEnd(start: Dir, way: Names): boolean {
    let dir = start.again()
    try {
      for (const name of way) {
        const next = dir.child(name)
        dir.close()
        dir = next
      }
      return identityOf(dir.fd) === this.identity
    } catch {
      return false
    } finally {
      dir.close()
    }
  }

  /** The open folder. Only to be used before the next await: after it, the root may be closed. */
  get dir(): Dir {
    if (this.#dir) return this.#dir
    if (this.#closed) throw new GatehouseError('PathOutOfScope', { path: this.path })
    return this.#open()
  }

  /** Opens the folder anew if it was deleted meanwhile; says whether it was. */
  revive(): boolean {
    if (this.#closed || !this.#dir || isThere(this.#dir)) return false
    this.#dir.close()
    this.#dir = null
    try {
      this.#open()
      return true
    } catch {
      return false
    }
  }

  /** Whether another folder stands where this one was opened, as far as can be seen. */
  get replaced(): boolean {
    if (!this.#dir) return false
    try {
      return named(statSync(this.path, { bigint: true })) !== this.identity
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
  prefixOf(components: Names): number {
    for (const spelling of this.spellings)
      if (restAfter(components, spelling) !== null) return spelling.length
    return -1
  }

  /** Names from an absolute path down to this folder, none where it is this; null where it does not lead here. */
  below(path: string): Names | null {
    const components = path.split('/').slice(1)
    for (const spelling of this.spellings) {
      const way = restAfter(spelling, components)
      if (way !== null) return way
    }
    return null
  }

  /** Whether a folder that was found at an absolute path is this one, or stands where it was given. */
  is(identity: string | null, path: string): boolean {
    return identity === this.identity || this.below(path)?.length === 0
  }

  close(): void {
    this.#closed = true
    this.#dir?.close()
    this.#dir = null
  }
}
