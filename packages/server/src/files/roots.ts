import { GatehouseError } from '@gatehouse/contract'
import type { Reach, Told } from '../ports/files.ts'
import { assertPath, componentsOf } from './paths.ts'
import type { Root } from './root.ts'

/** A place inside one root, before anything on disk was looked at. */
export type Spot = { readonly root: Root; readonly components: readonly string[] }

/** The folders of one agent. */
export class Roots {
  readonly workspace: Root
  /** The workspace first. */
  readonly all: readonly Root[]
  /** Policy for the places in the roots, for one call; null where it says the same of all. */
  readonly reach: Reach | null

  private constructor(workspace: Root, all: readonly Root[], reach: Reach | null) {
    this.workspace = workspace
    this.all = all
    this.reach = reach
  }

  static of(workspace: Root, ...mounts: readonly Root[]): Roots {
    const all = [workspace, ...mounts]
    for (const root of all) {
      root.opened = () => {
        for (const other of all) other.relate(all)
        for (const outer of all) root.assertNoLinkIn(outer)
      }
      root.opened()
    }
    return new Roots(workspace, all, null)
  }

  /** The same folders, for a call of which policy speaks place by place. */
  within(reach: Reach): Roots {
    return new Roots(this.workspace, this.all, reach)
  }

  /**
   * A place in both forms, by its text alone: in the innermost of the folders, by the path that this was given under.
   * @SECURITY So policy knows it by one path, whatever others lead there; reach.test.ts.
   */
  told(place: string): Told {
    const spot = this.under(place.split('/').slice(1))
    const absolute = spot ? [spot.root.path, ...spot.components].join('/') : place
    const { path } = this.workspace
    if (absolute === path) return { absolute, relative: '.' }
    const isOwn = absolute.startsWith(`${path}/`)
    return { absolute, relative: isOwn ? absolute.slice(path.length + 1) : absolute }
  }

  permits(place: string, argument?: string, shown?: string): boolean {
    return this.reach === null || this.reach.permits(this.told(place), argument, shown)
  }

  /** @SECURITY Asked of the place that descriptors stand at, never of the text; swapped-places.test.ts. */
  assertPermitted(place: string, shown: string, argument?: string): void {
    if (this.permits(place, argument, shown)) return
    const detail = 'not the place that it leads to'
    throw new GatehouseError('PathNotPermitted', { path: shown, detail })
  }

  /** Compares component by component, so that `/srv/work-evil` is not under `/srv/work`. */
  under(components: readonly string[]): Spot | null {
    let found: Spot | null = null
    let longest = -1
    for (const root of this.all) {
      const length = root.prefixOf(components)
      if (length > longest) {
        longest = length
        found = { root, components: components.slice(length) }
      }
    }
    return found
  }

  /** Where a path that an agent wrote begins: absolute inside a root, else relative to the workspace. */
  spot(path: string): Spot {
    assertPath(path)
    const components = componentsOf(path)
    if (path.charCodeAt(0) !== 0x2f) return { root: this.workspace, components }
    const found = this.under(components)
    if (!found) throw new GatehouseError('PathOutOfScope', { path })
    return found
  }

  /** The absolute form of a path by its text alone; links are not looked at. */
  resolve(path: string): string {
    const { root, components } = this.spot(path)
    const names: string[] = []
    for (const name of components) {
      if (name !== '..') names.push(name)
      else if (names.pop() === undefined) throw new GatehouseError('PathOutOfScope', { path })
    }
    return [root.path, ...names].join('/')
  }

  /** Whether a root was deleted and made again since it was opened; it is open anew then. */
  revive(): boolean {
    return this.all.map((root) => root.revive()).includes(true)
  }

  close(): void {
    for (const root of this.all) root.close()
  }
}
