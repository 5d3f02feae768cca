import { basename, dirname, resolve } from 'node:path'
import type { AgentFolders, FilesFactory } from '../ports/files.ts'
import { isUnder } from './paths.ts'
import { type Way, wayOf } from './way.ts'

const system = ['/proc', '/sys', '/dev']

export const isOfSystem = (path: string): boolean =>
  path === '/' || system.some((folder) => isUnder(path, folder))

const writableOf = (mounts: AgentFolders['mounts']): readonly string[] =>
  mounts.filter(({ read_only }) => !read_only).map(({ path }) => path)

/** Real paths, the folder above each followed once: the workspaces of all agents lie side by side. */
const realPathsOf = (paths: readonly string[]): readonly string[] => {
  const parents = new Map<string, string>()
  return paths.map((path) => {
    const above = dirname(path)
    const parent = parents.get(above) ?? wayOf(above).real
    parents.set(above, parent)
    return wayOf(basename(path), parent).real
  })
}

/** @SECURITY A link in a folder that an agent can write leads wherever the agent wants; given-folders.test.ts. */
const linkFault = ({ links }: Way, writable: readonly string[]): string | null => {
  // Most paths have no link on the way, and nothing is looked at. What such a link leads to counts as writable, too.
  const changeable = links.length === 0 ? [] : realPathsOf(writable)
  const link = links.find((folder) => changeable.some((given) => isUnder(folder, given)))
  if (link === undefined) return null
  return `a link in ${link} leads to it, which an agent can change; give it by its real path`
}

/** Reasons for which a folder is not given, by wherever its path leads. */
export class FolderRules {
  readonly #own: string | null
  /** Of agents, as they were given. */
  readonly #workspaces = new Map<string, string>()
  /** Other folders that each agent and each server may write. */
  readonly #writable = new Map<string, readonly string[]>()

  /** `own`: the service's own data. */
  constructor(own: string | null) {
    this.#own = own
  }

  note: FilesFactory['note'] = (kind, { name, workspace, mounts }) => {
    if (workspace !== undefined) this.#workspaces.set(name, workspace)
    this.#writable.set(`${kind} ${name}`, writableOf(mounts))
  }

  /** Why a mount is not given to an agent that has these; null where it is. */
  newMountFault(path: string, mounts: AgentFolders['mounts']): string | null {
    if (resolve(path) !== path || path === '/')
      return 'it must be an absolute path without .. and not /'
    const way = wayOf(path)
    return this.mountFault(way) ?? linkFault(way, writableOf(mounts))
  }

  /** Why a mount is refused whose path leads this way; null where it is not. */
  mountFault(way: Way): string | null {
    const own = this.#own === null ? null : wayOf(this.#own).real
    // @SECURITY An agent that can write there can rewrite its own policy and log; given-folders.test.ts.
    if (own !== null && (isUnder(way.real, own) || isUnder(own, way.real)))
      return 'it leads to the data of the service itself'
    return this.workspaceFault(way)
  }

  /** The same of a workspace, which lies in the service's own data. */
  workspaceFault(way: Way): string | null {
    if (isOfSystem(way.real)) return 'it leads into the system itself'
    return linkFault(way, [...this.#workspaces.values(), ...[...this.#writable.values()].flat()])
  }

  /** The same of what is given to a program, which a workspace may be. */
  grantFault(way: Way): string | null {
    const fault = this.mountFault(way)
    if (fault === null) return null
    const workspaces = [...this.#workspaces.values()]
    const isInOne = workspaces.some((path) => isUnder(way.real, wayOf(path).real))
    return isInOne ? this.workspaceFault(way) : fault
  }
}
