import { standingOf } from '../../domain/nodes.ts'
import { placeAmong } from '../../domain/spread.ts'
import type { StoredAgent } from '../../ports/agents.ts'
import type { CapabilityRegistry } from '../../ports/capability.ts'
import type { Clock } from '../../ports/clock.ts'
import type { StoredNode } from '../../ports/nodes.ts'
import type { Workspaces } from '../../ports/workspaces.ts'
import type { Basics } from '../call/basics.ts'
import type { InvokeInput } from '../call/invoke.ts'
import { namedCall } from '../call/named-call.ts'
import { isGenuineLink, type LinkDeps, type NodeLink } from './node-link.ts'
import { factsIn } from './node-record.ts'
import { runs } from './sites.ts'

export type WaysDeps = Pick<Basics, 'storage'> &
  LinkDeps & {
    readonly clock: Pick<Clock, 'now' | 'sleep'>
    readonly node: string
    readonly workspaces: Pick<Workspaces, 'site'>
    readonly registry: Pick<CapabilityRegistry, 'find'>
  }

/** Way to another node, over which requests of agents are forwarded. */
export type Way = {
  readonly node: string
  /** Folder of workspaces that the node has. */
  readonly site: string
  readonly url: string
  readonly host: string
  readonly port: number
  /** SHA-256 of the certificate that the node shows, and is known by. */
  readonly certificate: string
}

type Seen = {
  readonly active: readonly Way[]
  readonly draining: readonly Way[]
  readonly certificates: ReadonlySet<string>
}

/** A node that has just come or gone is seen as much later, and one that failed is tried again after it. */
const seenForMs = 1_000
/** Strangers, who show a certificate that is not known, have the database asked no more often. */
const askAgainMs = 100
/** Groups whose capabilities work on what a node has: files, repositories and programs, also where they name them by an id. */
const groupsOfNodes = new Set(['filesystem', 'git', 'process'])
const nothing: Seen = { active: [], draining: [], certificates: new Set() }

const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

type Linked = { readonly node: StoredNode; readonly link: NodeLink; readonly site: string | null }

const wayOf = ({ node, site, link: { url, certificate } }: Linked): Way | null => {
  if (site === null || !URL.canParse(url)) return null
  const { hostname, port } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  return { node: node.name, site, url, host, port: Number(port || 80), certificate }
}

/** The other nodes, as far as requests of agents are forwarded to them: to the node that has an agent's folders. */
export class Ways {
  readonly #deps: WaysDeps
  #seen: Promise<Seen> = Promise.resolve(nothing)
  #seenMs = Number.NEGATIVE_INFINITY
  /** Nodes that could not be reached: why, and when that was. */
  readonly #faults = new Map<string, { readonly reason: string; readonly failedMs: number }>()

  constructor(deps: WaysDeps) {
    this.#deps = deps
  }

  /** Whether there can be other nodes that have folders of their own. */
  get areNeeded(): boolean {
    return this.#deps.workspaces.site !== null
  }

  /** Whether the folders of an agent are those of another node. */
  isAway({ site }: Pick<StoredAgent, 'site'>): boolean {
    const own = this.#deps.workspaces.site
    return own !== null && site !== null && site !== own
  }

  /**
   * Whether a call is for the node that has the agent's folders, as far as names tell. This is about where it is answered:
   * what is allowed, each node decides for itself.
   */
  isOfNode(call: InvokeInput): boolean {
    const { capability: name, arguments: args } = namedCall(call)
    if (groupsOfNodes.has(name.split('.', 1)[0] ?? '')) return true
    const paths = this.#deps.registry.find(name)?.paths ?? []
    return isMembers(args) && paths.some((path) => args[path] !== undefined)
  }

  /** The way to a node that has the agent's folders: one that is draining where no other has them. Null where none runs. */
  async to(agent: Pick<StoredAgent, 'name' | 'site'>): Promise<Way | null> {
    if (!this.isAway(agent)) return null
    const { active, draining } = await this.#look()
    const ofAgent = (way: Way) => way.site === agent.site && !this.#hasJustFailed(way.node)
    const having = active.filter(ofAgent)
    return having[placeAmong(agent.name, having.length)] ?? draining.find(ofAgent) ?? null
  }

  /** All nodes that run and have other folders. */
  async all(): Promise<readonly Way[]> {
    const { active, draining } = await this.#look()
    return [...active, ...draining].filter((way) => this.isAway(way))
  }

  /** Whether it is the certificate of another node that runs: also of one that has just started. */
  async isKnown(certificate: string): Promise<boolean> {
    if ((await this.#look()).certificates.has(certificate)) return true
    const { clock } = this.#deps
    const waitMs = this.#seenMs + askAgainMs - clock.now()
    if (waitMs > 0) await clock.sleep(waitMs)
    return (await this.#look(askAgainMs)).certificates.has(certificate)
  }

  failed({ node, url }: Pick<Way, 'node' | 'url'>, reason: string): void {
    const failedMs = this.#deps.clock.now()
    this.#faults.set(node, { reason: `${url}: ${reason}`, failedMs })
  }

  reached(node: string): void {
    this.#faults.delete(node)
  }

  /** Why a node could not be reached the last time; null where it could, or nobody tried. */
  faultOf(node: string): string | null {
    return this.#faults.get(node)?.reason ?? null
  }

  #hasJustFailed(node: string): boolean {
    const fault = this.#faults.get(node)
    return fault !== undefined && this.#deps.clock.now() - fault.failedMs < seenForMs
  }

  #look(forMs = seenForMs): Promise<Seen> {
    const nowMs = this.#deps.clock.now()
    if (nowMs - this.#seenMs < forMs) return this.#seen
    this.#seenMs = nowMs
    this.#seen = this.#read()
    // The next one looks again; this one raises where it is awaited.
    this.#seen.catch(() => (this.#seenMs = Number.NEGATIVE_INFINITY))
    return this.#seen
  }

  async #read(): Promise<Seen> {
    const { storage, node: own, policyShare } = this.#deps
    const nowMs = await storage.wallMs()
    const others = (await storage.nodes.list()).filter(({ name }) => name !== own)
    const key = policyShare.key()
    // A node of a version that forwards nothing says no link.
    const running = others.flatMap((node): Linked[] => {
      const { link, site } = factsIn(node)
      const isLinked = runs(node, nowMs) && isGenuineLink(this.#deps, key, node.name, link)
      return isLinked && link ? [{ node, link, site }] : []
    })
    const waysOf = (standing: 'active' | 'draining') =>
      running
        .filter(({ node }) => standingOf(node, nowMs) === standing)
        .flatMap((linked) => wayOf(linked) ?? [])
    return {
      active: waysOf('active'),
      draining: waysOf('draining'),
      certificates: new Set(running.map(({ link }) => link.certificate)),
    }
  }
}
