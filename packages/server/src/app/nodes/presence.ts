import type { LogFinding, UncheckedLog } from '@gatehouse/contract'
import { assertServable, moveKey, parseMark } from '../../domain/move-mark.ts'
import { standingOf } from '../../domain/nodes.ts'
import type { StoredNode } from '../../ports/nodes.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Workspaces } from '../../ports/workspaces.ts'
import type { Basics } from '../call/basics.ts'
import type { FoundByNode } from '../call/found-by-node.ts'
import type { Components } from '../call/part.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { clockAhead, clockFault, type NodeIdentity, otherNodes } from './fit.ts'
import { type LinkDeps, type NodeLink, signLink } from './node-link.ts'
import { factsIn, type NodeFacts, remedyAt, workspacesOf } from './node-record.ts'
import { assertSamePath, copiesOf, copyRefusal, marksSeen, runs } from './sites.ts'

export type PresenceDeps = Pick<Basics, 'storage' | 'clock' | 'log'> &
  NodeIdentity &
  LinkDeps & {
    readonly version: string
    readonly policy: Pick<PolicySource, 'current'>
    readonly sharedPolicy: { fault(): string | null }
    readonly sessions: { count(): number }
    readonly processesRunning: () => number
    /** Finding of the logs of this node. */
    readonly logFinding: () => LogFinding | null
    /** Entry by which a person accepted the log of another process, where this node relied on it. */
    readonly acceptedIn: (log: string) => string | null
    readonly workspaces: Pick<Workspaces, 'site' | 'path' | 'mark' | 'markOf'>
    readonly listeners: {
      /** Where agents reach this node. */
      readonly address: string | null
      readonly link: NodeLink | null
      readonly draining: boolean
      /** Tells whoever asks whether calls may be sent here: the name of this node where it takes none. */
      drain(node: string | null): void
    }
    readonly signal: AbortSignal
  }

const beatMs = 2_000
/** Another node that has said since then that it is there would have said that it sees this one's mark: three beats. */
const confirmMs = 6_000
const confirmEveryMs = 250

/** Says every two seconds that this node is there, and sees who else is. Alone on its store it says so once. */
export class Presence {
  readonly #deps: PresenceDeps
  readonly #beating: PollLoop
  #others: readonly StoredNode[] = []
  #clockFault: string | null = null
  #seenMs = 0
  /** Nodes that had another policy at the last beat, and those that had it at the beat before, too. */
  #differing: ReadonlySet<string> = new Set()
  #strange: readonly string[] = []
  #siteMark: string | null = null
  /** The same of nodes that seem to have a copy of this node's folder of workspaces: a mount may show a new mark late. */
  #copies: ReadonlySet<string> = new Set()
  #copied: readonly string[] = []
  #serves = false
  /** Whether it entered before it serves, and nobody knew it before that. */
  #isNew = false

  constructor(deps: PresenceDeps) {
    this.#deps = deps
    this.#beating = new PollLoop(deps, {
      name: 'telling the other nodes of this one',
      everyMs: beatMs,
      look: () => this.#beat(),
    })
  }

  /**
   * Puts the mark of this life into the folder of workspaces, and waits until nodes that have the same one say that they
   * see it. Raises `NodeUnfit` where one does not.
   * @SECURITY Of two nodes that take a copy for the folder itself, each would change files that the other does not see; sites.test.ts.
   */
  async assertFolder(): Promise<void> {
    const { storage, clock, node, workspaces, signal } = this.#deps
    if (workspaces.site === null) return
    this.#isNew = (await storage.nodes.find(node)) === null
    this.#siteMark = workspaces.mark(node)
    await this.#enter()
    assertSamePath(this.#deps, this.#others, this.#seenMs)
    // Not before the mark could be seen: what another says until then is said without it.
    const enteredMs = await storage.wallMs()
    while (!signal.aborted) {
      const copies = copiesOf(this.#deps, this.#siteMark, this.#others, this.#seenMs)
      if (copies.length === 0) return
      const copied = copies.find(({ seen_ms }) => seen_ms - enteredMs >= confirmMs)
      if (copied) throw copyRefusal(copied)
      await clock.sleep(confirmEveryMs, signal)
      await storage.nodes.beat(node, await this.#look())
    }
  }

  async start(): Promise<void> {
    // Since it entered a person may have told it to drain.
    await this.#enter({ staysDraining: this.#siteMark !== null })
    this.#serves = true
    if (this.#deps.storage.isNetworked) this.#beating.start()
  }

  async stopped(): Promise<void> {
    const { storage, node } = this.#deps
    await this.#beating.stopped()
    // A store that does not answer now finds this node missing.
    if (this.#serves) await storage.nodes.setState(node, 'stopped').catch(() => undefined)
    else if (this.#isNew) await storage.nodes.remove(node).catch(() => undefined)
  }

  /** A node as it is now: this one by itself, others by what they last said. */
  async find(name: string): Promise<StoredNode | null> {
    const { storage, node } = this.#deps
    const found = await storage.nodes.find(name)
    if (!found || name !== node || !this.#serves) return found
    return { ...found, ...this.#seen(await storage.wallMs()) }
  }

  awaySites(): readonly string[] {
    const own = this.#deps.workspaces.site
    const serving = this.#others.filter((other) => runs(other, this.#seenMs))
    const sites = serving.flatMap((other) => factsIn(other).site ?? [])
    return own === null ? [] : [...new Set(sites)].filter((site) => site !== own)
  }

  missing(): readonly UncheckedLog[] {
    return this.#missing().map(({ name, place, seen_ms }) => ({
      log: name,
      since: new Date(seen_ms).toISOString(),
      reason: `${name} (${place}) is missing: its copied entries were verified, and nobody compares them with its log`,
      remedy: `start it again; if it will not come back, run: gatehouse nodes forget ${name}`,
    }))
  }

  /** Findings of other nodes that did not stop: of their own files nobody else can tell. */
  found(): readonly FoundByNode[] {
    return this.#others.flatMap((other) => {
      const { log_finding } = factsIn(other)
      const standing = standingOf(other, this.#seenMs)
      if (log_finding === null || standing === 'stopped' || this.#isKnown(log_finding)) return []
      const { name, place } = other
      const { kind, detail } = log_finding
      const remedy = remedyAt(other, standing)
      return [{ node: name, kind, detail: `${name} (${place}) found: ${detail}`, remedy }]
    })
  }

  /** Whether this node found the same itself, or a person accepted that log since, which the other node follows in a moment. */
  #isKnown({ log, accepted_before }: LogFinding): boolean {
    if (log === undefined) return false
    const entry = this.#deps.acceptedIn(log)
    return this.#deps.logFinding()?.log === log || (entry !== null && entry !== accepted_before)
  }

  health(): Components['nodes'] {
    const missing = this.#missing()
    const sites = [this.#deps.workspaces.site, ...this.#others.map((other) => factsIn(other).site)]
    const facts = {
      nodes: this.#others.length - missing.length + 1,
      workspaces: workspacesOf(sites),
      draining: this.#deps.listeners.draining,
    }
    const policyFault = this.#deps.sharedPolicy.fault()
    const reasons = [
      ...(this.#clockFault ? [this.#clockFault] : []),
      ...(policyFault ? [policyFault] : []),
      ...missing.map(
        ({ name, place }) =>
          `${name} (${place}) is missing; if it will not come back, run: gatehouse nodes forget ${name}`,
      ),
      ...this.found().map(
        ({ kind, detail, remedy }) => `in the audit log (${kind}) ${detail}; ${remedy}`,
      ),
      ...this.#copied.map(
        (name) =>
          `${name} has a copy of this node's folder of workspaces, and not the folder itself`,
      ),
      ...this.#strange.map((name) => `${name} decides by another policy than this node`),
    ]
    return reasons.length > 0
      ? { status: 'degraded', reason: reasons.join('; '), ...facts }
      : { status: 'healthy', ...facts }
  }

  #missing(): readonly StoredNode[] {
    return this.#others.filter((other) => standingOf(other, this.#seenMs) === 'missing')
  }

  async #beat(): Promise<void> {
    const { storage, node, listeners } = this.#deps
    const state = await storage.nodes.beat(node, await this.#look())
    // One that was forgotten while it lived enters anew.
    if (state === null) await this.#enter()
    listeners.drain(state === 'draining' ? node : null)
    this.#clockFault = clockFault(await clockAhead(this.#deps))
    this.#comparePolicies()
    const copies = copiesOf(this.#deps, this.#siteMark, this.#others, this.#seenMs)
    const names = copies.map(({ name }) => name)
    this.#copied = names.filter((name) => this.#copies.has(name))
    this.#copies = new Set(names)
  }

  /** Sees who else is there, and returns what this node says of itself. */
  async #look(): Promise<Pick<StoredNode, 'seen_ms' | 'facts_json'>> {
    const { storage, node } = this.#deps
    // The time first: what it says of the others' marks must not be older than it says.
    this.#seenMs = await storage.wallMs()
    if (storage.isNetworked) this.#others = otherNodes(await storage.nodes.list(), node)
    return this.#seen(this.#seenMs)
  }

  /** One that is about to follow a change is not named: what it last said is up to a beat old. */
  #comparePolicies(): void {
    const { version } = this.#deps.policy.current()
    const differing = this.#others.filter(
      (other) =>
        standingOf(other, this.#seenMs) === 'active' && factsIn(other).policy_version !== version,
    )
    const names = differing.map(({ name }) => name)
    this.#strange = names.filter((name) => this.#differing.has(name))
    this.#differing = new Set(names)
  }

  async #enter({ staysDraining } = { staysDraining: false }): Promise<void> {
    const { storage, node, place, version, listeners } = this.#deps
    const seen = await this.#look()
    const { address } = listeners
    const self = { name: node, place, version, address, started_ms: seen.seen_ms, ...seen }
    await storage.transaction(async ({ nodes }) => {
      const held = staysDraining ? await nodes.find(node) : null
      await nodes.put({ ...self, state: held?.state === 'draining' ? 'draining' : 'active' })
    })
    // A move that began since the store was opened looked for nodes before this one was there, or sees it now.
    assertServable(parseMark(await storage.meta.get(moveKey)))
  }

  #seen(seen_ms: number): Pick<StoredNode, 'seen_ms' | 'facts_json'> {
    const { policy, sessions, processesRunning, logFinding, workspaces, listeners } = this.#deps
    const facts: NodeFacts = {
      site: workspaces.site,
      site_mark: this.#siteMark,
      site_path: workspaces.path,
      sees_marks: marksSeen(this.#deps, this.#others, seen_ms),
      policy_version: policy.current().version,
      sessions: sessions.count(),
      processes: processesRunning(),
      log_finding: logFinding(),
      link: signLink(this.#deps, this.#deps.node, listeners.link),
    }
    return { seen_ms, facts_json: JSON.stringify(facts) }
  }
}
