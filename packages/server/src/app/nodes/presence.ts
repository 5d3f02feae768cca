import { assertServable, moveKey, parseMark } from '../../domain/move-mark.ts'
import { standingOf } from '../../domain/nodes.ts'
import type { StoredNode } from '../../ports/nodes.ts'
import type { PolicySource } from '../../ports/policy.ts'
import type { Basics } from '../call/basics.ts'
import type { Components } from '../call/part.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { clockAhead, clockFault, type NodeIdentity, otherNodes } from './fit.ts'
import { factsIn, type NodeFacts } from './node-record.ts'

export type PresenceDeps = Pick<Basics, 'storage' | 'clock' | 'log'> &
  NodeIdentity & {
    readonly version: string
    readonly policy: Pick<PolicySource, 'current'>
    readonly sharedPolicy: { fault(): string | null }
    readonly sessions: { count(): number }
    readonly processesRunning: () => number
    readonly listeners: {
      /** Where agents reach this node. */
      readonly address: string | null
      readonly draining: boolean
      /** Tells whoever asks whether calls may be sent here. */
      drain(draining: boolean): void
    }
    readonly signal: AbortSignal
  }

const beatMs = 2_000

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
  #serves = false

  constructor(deps: PresenceDeps) {
    this.#deps = deps
    this.#beating = new PollLoop(deps, {
      name: 'telling the other nodes of this one',
      everyMs: beatMs,
      look: () => this.#beat(),
    })
  }

  async start(): Promise<void> {
    await this.#enter()
    this.#serves = true
    if (this.#deps.storage.isNetworked) this.#beating.start()
  }

  async stopped(): Promise<void> {
    const { storage, node } = this.#deps
    await this.#beating.stopped()
    // A store that does not answer now finds this node missing.
    if (this.#serves) await storage.nodes.setState(node, 'stopped').catch(() => undefined)
  }

  /** A node as it is now: this one by itself, others by what they last said. */
  async find(name: string): Promise<StoredNode | null> {
    const { storage, node } = this.#deps
    const found = await storage.nodes.find(name)
    return found && name === node && this.#serves ? { ...found, ...(await this.#seen()) } : found
  }

  health(): Components['nodes'] {
    const missing = this.#others.filter((other) => standingOf(other, this.#seenMs) === 'missing')
    const facts = {
      nodes: this.#others.length - missing.length + 1,
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
      ...this.#strange.map((name) => `${name} decides by another policy than this node`),
    ]
    return reasons.length > 0
      ? { status: 'degraded', reason: reasons.join('; '), ...facts }
      : { status: 'healthy', ...facts }
  }

  async #beat(): Promise<void> {
    const { storage, node, listeners } = this.#deps
    const seen = await this.#seen()
    const state = await storage.nodes.beat(node, seen)
    // One that was forgotten while it lived enters anew.
    if (state === null) await this.#enter()
    listeners.drain(state === 'draining')
    this.#others = otherNodes(await storage.nodes.list(), node)
    this.#clockFault = clockFault(await clockAhead(this.#deps))
    this.#seenMs = seen.seen_ms
    this.#comparePolicies()
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

  async #enter(): Promise<void> {
    const { storage, node, place, version, listeners } = this.#deps
    const seen = await this.#seen()
    const { address } = listeners
    const self = { name: node, place, version, address, state: 'active' } as const
    await storage.nodes.put({ ...self, started_ms: seen.seen_ms, ...seen })
    // A move that began since the store was opened looked for nodes before this one was there, or sees it now.
    assertServable(parseMark(await storage.meta.get(moveKey)))
  }

  async #seen(): Promise<Pick<StoredNode, 'seen_ms' | 'facts_json'>> {
    const { storage, policy, sessions, processesRunning } = this.#deps
    const facts: NodeFacts = {
      policy_version: policy.current().version,
      sessions: sessions.count(),
      processes: processesRunning(),
    }
    return { seen_ms: await storage.wallMs(), facts_json: JSON.stringify(facts) }
  }
}
