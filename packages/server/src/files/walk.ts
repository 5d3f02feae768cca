import { fsyncSync, mkdirSync, readlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { Dir } from './dir.ts'
import { codeOf, failure, saying } from './failure.ts'
import { identityOf } from './identity.ts'
import { isGit, isReserved } from './names.ts'
import { passFolderToOwner } from './owner.ts'
import { componentsOf, depthMax, linkHopsMax } from './paths.ts'
import type { Root } from './root.ts'
import type { Roots, Spot } from './roots.ts'

export type Intent = 'read' | 'write'

/**
 * The way from a root to the folder that holds a name, one descriptor a step. Links are read and walked
 * again by the same rules, never left to the operating system. Made, used and closed without an await
 * between, so that a root which is closed meanwhile cannot lend its number to another file.
 */
export class Walk implements Disposable {
  /** The last name, not looked at yet; null when the path is the folder that the walk stands in. */
  leaf: string | null = null
  #root: Root
  readonly #roots: Roots
  readonly #shown: string
  readonly #intent: Intent
  readonly #make: boolean
  readonly #argument: string | undefined
  readonly #dirs: Dir[] = []
  readonly #names: string[] = []
  #hops = 0

  constructor(
    roots: Roots,
    spot: Spot,
    shown: string,
    options: {
      readonly intent: Intent
      readonly makeFolders?: boolean
      /** The argument that led here, where a call has several. */
      readonly argument?: string
    },
  ) {
    this.#roots = roots
    this.#root = spot.root
    this.#shown = shown
    this.#intent = options.intent
    this.#make = options.makeFolders ?? false
    this.#argument = options.argument
    try {
      this.#enterRoot(spot.root)
      this.#follow(spot.components)
    } catch (error) {
      this[Symbol.dispose]()
      throw failure(error, shown)
    }
  }

  get root(): Root {
    return this.#root
  }

  /** The folder that the walk stands in, which holds the leaf. */
  get dir(): Dir {
    return this.#dirs.at(-1) ?? this.#root.dir
  }

  /** The path as it really is, links resolved up to the leaf. */
  get path(): string {
    const names = this.leaf === null ? this.#names : [...this.#names, this.leaf]
    return names.length === 0 ? this.#root.path : `${this.#root.path}/${names.join('/')}`
  }

  /** Raises `PathNotPermitted` where the call may not touch what the walk stands at. */
  assertPermitted(): void {
    if (this.#roots.reach) this.#roots.assertPermitted(this.path, this.#shown, this.#argument)
  }

  /** Relative to the root. */
  get names(): readonly string[] {
    return this.leaf === null ? this.#names : [...this.#names, this.leaf]
  }

  /** The system path of the leaf, or of the folder itself. */
  get at(): string {
    this.assertHolds()
    return this.leaf === null ? this.dir.at : this.dir.at + this.leaf
  }

  /** For a leaf that turned out to be a link: goes where it leads. False when it is none. */
  followLeaf(): boolean {
    if (this.leaf === null) return false
    return saying(this.#shown, () => {
      const target = this.#readLink(this.leaf as string)
      if (target === null) return false
      this.#goTo(target, [])
      return true
    })
  }

  /** A path that ends in `..` names a folder by standing in it; this steps out, so that it has a name. */
  asEntry(): string {
    if (this.leaf === null) {
      const name = this.#names.pop()
      if (name === undefined) {
        const detail = 'it is one of the folders given to the agent'
        throw new GatehouseError('ProtectedPath', { path: this.#shown, detail })
      }
      this.#dirs.pop()?.close()
      this.leaf = name
    }
    return this.leaf
  }

  /** The folder under a descriptor of its own, for work that goes on after an await. */
  takeDir(): Dir {
    return this.#dirs.pop() ?? this.#root.dir.again()
  }

  /** Where there are no descriptor paths: whether every folder still stands where it was opened. */
  assertHolds(): void {
    if (this.#root.dir.holds() && this.#dirs.every((dir) => dir.holds())) return
    throw new GatehouseError('PathOutOfScope', { path: this.#shown })
  }

  [Symbol.dispose](): void {
    for (let dir = this.#dirs.pop(); dir; dir = this.#dirs.pop()) dir.close()
  }

  #enterRoot(root: Root): void {
    if (this.#intent === 'write' && root.readOnly) {
      throw new GatehouseError('ReadOnlyRoot', { path: this.#shown })
    }
    this[Symbol.dispose]()
    // Setting a length is slow, and most walks enter one root.
    if (this.#names.length > 0) this.#names.length = 0
    this.#root = root
  }

  #follow(components: readonly string[]): void {
    this.leaf = null
    for (let i = 0; i < components.length; i++) {
      const name = components[i] as string
      if (name === '..') {
        this.#stepOut()
        continue
      }
      this.#guard(name)
      if (i === components.length - 1) {
        this.leaf = name
        return
      }
      const target = this.#stepInto(name, components, i)
      if (target !== null) {
        this.#goTo(target, components.slice(i + 1))
        return
      }
    }
  }

  #guard(name: string): void {
    if (isReserved(name)) {
      const detail = 'the name is kept for the service itself'
      throw new GatehouseError('ProtectedPath', { path: this.#shown, detail })
    }
    if (this.#intent === 'write' && isGit(name)) {
      const detail = 'what git keeps about a repository is changed by the git capabilities only'
      throw new GatehouseError('ProtectedPath', { path: this.#shown, detail })
    }
  }

  /** @SECURITY Never past the root (confinement.test.ts, F01 and F13). */
  #stepOut(): void {
    if (this.#names.pop() === undefined) {
      throw new GatehouseError('PathOutOfScope', { path: this.#shown })
    }
    this.#dirs.pop()?.close()
  }

  /** Opens the folder of that name; where a link stands in its place, returns the link's target. */
  #stepInto(name: string, components: readonly string[], at: number): string | null {
    if (this.#names.length >= depthMax) {
      const detail = `it is more than ${depthMax} folders deep`
      throw new GatehouseError('InvalidPath', { detail })
    }
    let child: Dir
    try {
      child = this.dir.child(name)
    } catch (error) {
      if (codeOf(error) === 'ENOENT' && this.#make) {
        this.#assertMayMake(components, at)
        child = this.#makeFolder(name)
      } else {
        // Systems differ in how they refuse a link there: whether it is one says the link.
        const target = this.#readLink(name)
        if (target === null) throw error
        return target
      }
    }
    this.#dirs.push(child)
    this.#names.push(name)
    if (this.#root.inner.length > 0) this.#enterInner(child)
    return null
  }

  /** A folder on the way is made for what the rest of the path names, and that is what policy is asked of. */
  #assertMayMake(components: readonly string[], at: number): void {
    const from = [this.#root.path, ...this.#names].join('/')
    const rest = components.slice(at)
    const argument = this.#argument
    // The way goes out of the new folder again: then that one is a place of its own.
    if (rest.includes('..'))
      this.#roots.assertPermitted(`${from}/${rest[0]}`, this.#shown, argument)
    this.#roots.assertPermitted(posix.join(from, ...rest), this.#shown, argument)
  }

  #makeFolder(name: string): Dir {
    this.assertHolds()
    try {
      mkdirSync(this.dir.at + name)
      passFolderToOwner(name, this.dir)
      fsyncSync(this.dir.fd)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    }
    return this.dir.child(name)
  }

  /** @SECURITY A root inside another keeps its own rules, whatever name led to it; confinement.test.ts. */
  #enterInner(child: Dir): void {
    // Most agents have none, and each step of each path comes here.
    if (this.#root.inner.length === 0) return
    const [identity, path] = [identityOf(child.fd), this.path]
    const inner = this.#root.inner.find((root) => root.is(identity, path))
    if (inner) this.#enterRoot(inner)
  }

  #readLink(name: string): string | null {
    try {
      return readlinkSync(this.dir.at + name)
    } catch (error) {
      if (codeOf(error) === 'EINVAL') return null
      throw error
    }
  }

  /** A relative target goes on from here, an absolute one must lie under a root and starts there. */
  #goTo(target: string, rest: readonly string[]): void {
    if (++this.#hops > linkHopsMax) {
      const detail = `it goes through more than ${linkHopsMax} links`
      throw new GatehouseError('InvalidPath', { detail })
    }
    let components = componentsOf(target)
    if (target.startsWith('/')) {
      const spot = this.#roots.under(components)
      if (!spot) throw new GatehouseError('PathOutOfScope', { path: this.#shown })
      this.#enterRoot(spot.root)
      components = spot.components
    }
    this.#follow([...components, ...rest])
  }
}

/** Walks to a path that an agent wrote. Close it before the next await. */
export const walkTo = (
  roots: Roots,
  path: string,
  intent: Intent,
  options: { readonly makeFolders?: boolean; readonly argument?: string } = {},
): Walk => new Walk(roots, roots.spot(path), path, { intent, ...options })
