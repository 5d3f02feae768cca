import { type CapabilityResult, GatehouseError } from '@gatehouse/contract'
import type { Decision } from '../../domain/policy/types.ts'
import type { ResourceWatch } from '../../ports/upstream.ts'
import type { SessionTable } from '../agents/session-table.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { AgentOp } from '../call/op.ts'
import {
  type FeatureDeps,
  type FeatureOutcome,
  readerFor,
  resourceOf,
  useFeature,
} from './features.ts'

export type SubscriptionDeps = FeatureDeps &
  Pick<Basics, 'auditLog' | 'log'> & {
    /** Of the agent: whether it may call a capability at all. */
    readonly describeCapability: (
      op: AgentOp,
      input: { readonly name: string },
    ) => Promise<{ readonly kind: string }>
    /** Verdict of policy on a call that nobody makes. */
    readonly testPolicy: (
      op: AgentOp,
      input: {
        readonly agent: string
        readonly capability: string
        readonly arguments: Record<string, unknown>
      },
    ) => Promise<{ readonly decision: Pick<Decision, 'kind'> }>
    readonly followApproval: (
      op: AgentOp,
      input: { readonly approval_id: string; readonly deliver: false },
    ) => Promise<{ readonly result: CapabilityResult | null; readonly note: string | undefined }>
    /** Aborts when the service stops. */
    readonly signal: AbortSignal
    /** Whether the tool of a server passes calls now. */
    readonly inService: (tool: { readonly server: string; readonly capability: string }) => boolean
    readonly sessions: Pick<SessionTable, 'onEnd' | 'use'>
    /** Hears of changes of a resource over the connection of an agent. */
    readonly watchUpstream: (
      input: { readonly upstream: string; readonly agent: string; readonly uri: string },
      signal: AbortSignal,
      changed: () => void,
    ) => Promise<ResourceWatch>
  }

/** A client that hears of the changes of a resource. */
export type ChangeListener = {
  /** Tells the client that it has changed; false where nobody can be told just now. */
  changed(): boolean | Promise<boolean>
  /** Told when no more changes follow, unless the listener itself ended that. */
  ended?(): void
}

export type WatchOutcome =
  | Exclude<FeatureOutcome, { readonly kind: 'answered' }>
  | ({ readonly kind: 'watched' } & Disposable)

/**
 * Changes of upstream resources for the client of an agent. Whoever wants to hear of one reads it first, through the
 * gate: by the same policy and limits, and in the log.
 */
export interface SubscriptionUseCases {
  /**
   * Until it is disposed, or the agent may hear no more. A server that has gone is connected to again, and its client
   * told that the resource has changed, since nobody knows. Raises what the gate raises, and `QuotaExceeded`.
   */
  watchResource(
    op: AgentOp,
    input: { readonly uri: string },
    listener: ChangeListener,
  ): Promise<WatchOutcome>
  /** Until the session ends, too. In place of the one that the session has for this resource. */
  subscribeResource(
    op: AgentOp,
    input: { readonly session_id: string; readonly uri: string },
    listener: ChangeListener,
  ): Promise<WatchOutcome>
  unsubscribeResource(
    op: AgentOp,
    input: { readonly session_id: string; readonly uri: string },
  ): Promise<void>
}

const perAgentMax = 100
/** Requests to a person that are remembered: of older ones the agent asks anew. */
const askedMax = 1_000
/** Between two notices of one resource: those in between are one. */
const paceMs = 1_000
/** Before a server is asked once more that has just gone, longer each time. */
const pauseMsMax = 60_000
/** A server that was heard for so long has not gone at once. */
const steadyMs = 60_000

type Resource = {
  readonly server: string
  readonly inner: string
  /** Reads it. */
  readonly capability: string
}

/** An agent whose token ended may read nothing. */
const refusedRead = (cause: unknown): false => {
  if (cause instanceof GatehouseError) return false
  throw cause
}

/** Said by the server itself: asking once more leads nowhere. */
const isRefusal = (cause: unknown): boolean =>
  cause instanceof GatehouseError &&
  (cause.type === 'InvalidArguments' || cause.type === 'UpstreamToolFailed')

/** One resource that an agent hears of. */
class Subscription implements Disposable {
  readonly agent: string
  readonly #deps: SubscriptionDeps
  readonly #op: AgentOp
  readonly #resource: Resource
  readonly #listener: ChangeListener
  readonly #over = new AbortController()
  readonly #done: () => void
  #watch: ResourceWatch | null = null
  #openedMs = 0
  /** Attempts since it was heard for a while. */
  #vain = 0
  #hasChanged = false
  #isTelling = false
  #isLast = false

  constructor(
    deps: SubscriptionDeps,
    op: AgentOp,
    resource: Resource,
    { listener, done }: { readonly listener: ChangeListener; readonly done: () => void },
  ) {
    this.#deps = deps
    this.#op = op
    this.#resource = resource
    this.#listener = listener
    this.#done = done
    this.agent = op.actor.name
  }

  async open(signal: AbortSignal): Promise<void> {
    const { server: upstream, inner: uri } = this.#resource
    const { agent } = this
    const watch = await this.#deps.watchUpstream({ upstream, agent, uri }, signal, () =>
      this.#changed(),
    )
    this.#watch = watch
    this.#openedMs = this.#deps.clock.now()
    if (this.#over.signal.aborted) return await watch[Symbol.asyncDispose]()
    void watch.ended.then(() => this.#renew()).catch((cause: unknown) => this.#failed(cause))
  }

  /** The server tells no more: it is asked anew, for as long as the agent may read the resource. */
  async #renew(): Promise<void> {
    const { clock, signal: stops } = this.#deps
    const signal = AbortSignal.any([this.#over.signal, stops])
    if (clock.now() - this.#openedMs >= steadyMs) this.#vain = 0
    while (!signal.aborted) {
      if (this.#vain > 0) await clock.sleep(Math.min(pauseMsMax, 500 * 2 ** this.#vain), signal)
      this.#vain += 1
      if (!(await this.mayRead())) return this.#end()
      try {
        await this.open(signal)
        return this.#changed()
      } catch (cause) {
        if (signal.aborted) return
        if (!(cause instanceof GatehouseError)) throw cause
        if (isRefusal(cause)) return this.#lost()
      }
    }
  }

  /** Changes since then are not known, so that the client looks once more. */
  #lost(): void {
    this.#isLast = true
    this.#changed()
  }

  #changed(): void {
    this.#hasChanged = true
    if (this.#isTelling) return
    this.#isTelling = true
    this.#tell().catch((cause: unknown) => this.#failed(cause))
  }

  async #tell(): Promise<void> {
    const { signal } = this.#over
    while (this.#hasChanged && !signal.aborted) {
      this.#hasChanged = false
      if (!(await this.mayRead())) return this.#end()
      if (!(await this.#listener.changed())) this.#hasChanged = true
      else if (this.#isLast) return this.#end()
      await this.#deps.clock.sleep(paceMs, signal)
    }
    // In the turn of the last look: a change after it is told anew.
    this.#isTelling = false
  }

  /** @SECURITY By the policy of now: that a resource changes is told to nobody who may not read it; upstream/subscriptions.test.ts. */
  async mayRead(): Promise<boolean> {
    return await this.#mayRead().catch(refusedRead)
  }

  async #mayRead(): Promise<boolean> {
    const { server, capability, inner } = this.#resource
    if (!this.#deps.inService({ server, capability })) return false
    const { signal } = this.#over
    // In no session: what a server tells keeps none alive.
    const who = { actor: this.#op.actor, session_id: null, signal }
    const op = { ...who, request_id: this.#deps.ids.next('req') }
    const described = await this.#deps.describeCapability(op, { name: capability })
    if (described.kind !== 'described') return false
    const asked = { agent: this.agent, capability, arguments: { uri: inner } }
    const { decision } = await this.#deps.testPolicy(op, asked)
    return decision.kind !== 'deny'
  }

  #failed(cause: unknown): void {
    this.#deps.log.warn({ err: cause, agent: this.agent }, 'a changed resource was not told')
    this.#end()
  }

  #end(): void {
    if (this.#over.signal.aborted) return
    this[Symbol.dispose]()
    this.#listener.ended?.()
  }

  [Symbol.dispose](): void {
    if (this.#over.signal.aborted) return
    this.#over.abort()
    this.#done()
    void this.#watch?.[Symbol.asyncDispose]()
  }
}

/** Reads that a person was asked for: the approved one is what its agent asks by again, however it was told of that. */
class AskedReads {
  readonly #deps: Pick<SubscriptionDeps, 'followApproval'>
  readonly #approvals = new Map<string, string>()

  constructor(deps: Pick<SubscriptionDeps, 'followApproval'>) {
    this.#deps = deps
  }

  /** Whether a person has let the agent read it as it asked to, and it was read. Said once. */
  async takeApproved(op: AgentOp, uri: string): Promise<boolean> {
    const key = keyOf(op, uri)
    const approval_id = this.#approvals.get(key)
    if (approval_id === undefined) return false
    const look = { approval_id, deliver: false } as const
    // One that cannot be looked at is none: its agent asks anew.
    const followed = await this.#deps.followApproval(op, look).catch(() => null)
    if (followed?.result === null) return false
    this.#approvals.delete(key)
    return followed?.result.success === true && followed.note === undefined
  }

  add(op: AgentOp, uri: string, approval_id: string): void {
    this.#approvals.set(keyOf(op, uri), approval_id)
    const [oldest] = this.#approvals.keys()
    if (oldest !== undefined && this.#approvals.size > askedMax) this.#approvals.delete(oldest)
  }
}

const keyOf = ({ actor }: AgentOp, uri: string): string => `${actor.name} ${uri}`

/** All resources that agents hear of, by themselves or in a session. */
class Subscriptions {
  readonly #deps: SubscriptionDeps
  readonly #all = new Set<Subscription>()
  readonly #asked: AskedReads
  /** By session, and by the address of the resource. */
  readonly #ofSessions = new Map<string, Map<string, Disposable>>()

  constructor(deps: SubscriptionDeps) {
    this.#deps = deps
    this.#asked = new AskedReads(deps)
    deps.sessions.onEnd((id) => {
      for (const one of this.#ofSessions.get(id)?.values() ?? []) one[Symbol.dispose]()
      this.#ofSessions.delete(id)
    })
  }

  /** Counted before it is there: many at once are bounded, too. */
  #add(op: AgentOp, resource: Resource, listener: ChangeListener): Subscription {
    const agent = op.actor.name
    let count = 0
    for (const one of this.#all) if (one.agent === agent) count += 1
    if (count >= perAgentMax)
      throw new GatehouseError('QuotaExceeded', { limit: perAgentMax, what: 'watched resources' })
    const done = () => void this.#all.delete(subscription)
    const subscription: Subscription = new Subscription(this.#deps, op, resource, {
      listener,
      done,
    })
    this.#all.add(subscription)
    return subscription
  }

  async #resourceOf(op: AgentOp, uri: string): Promise<Resource | null> {
    const named = resourceOf(uri)
    if (!named || !this.#deps.tellsChanges(named.server)) return null
    const capability = await readerFor(op, this.#deps, named.server)
    return capability === null ? null : { ...named, capability }
  }

  async watch(op: AgentOp, uri: string, listener: ChangeListener): Promise<WatchOutcome> {
    const resource = await this.#resourceOf(op, uri)
    if (!resource) return { kind: 'absent' }
    const subscription = this.#add(op, resource, listener)
    let isOpen = false
    try {
      const outcome = await this.#read(op, uri, subscription)
      if (outcome.kind !== 'answered') return outcome
      await this.#record(op, 'upstream.subscribed', resource)
      await subscription.open(op.signal)
      isOpen = true
      return { kind: 'watched', [Symbol.dispose]: () => subscription[Symbol.dispose]() }
    } finally {
      if (!isOpen) subscription[Symbol.dispose]()
    }
  }

  async #read(
    op: AgentOp,
    uri: string,
    subscription: Subscription,
  ): Promise<Exclude<FeatureOutcome, { kind: 'answered' }> | { readonly kind: 'answered' }> {
    if ((await this.#asked.takeApproved(op, uri)) && (await subscription.mayRead()))
      return { kind: 'answered' }
    const outcome = await useFeature(op, this.#deps, { method: 'resources/read', uri })
    if (outcome.kind === 'pending') this.#asked.add(op, uri, outcome.pending.approval_id)
    return outcome
  }

  async inSession(
    op: AgentOp,
    { session_id, uri }: { readonly session_id: string; readonly uri: string },
    { changed }: ChangeListener,
  ): Promise<WatchOutcome> {
    this.#drop(session_id, uri)
    const ended = () => void this.#drop(session_id, uri)
    const outcome = await this.watch(op, uri, { changed, ended })
    if (outcome.kind !== 'watched') return outcome
    if (!this.#deps.sessions.use(session_id, op.actor.name)) {
      outcome[Symbol.dispose]()
      throw new GatehouseError('SessionNotFound', { session_id })
    }
    // Of two requests at once one holds.
    this.#drop(session_id, uri)
    const ofSession = this.#ofSessions.get(session_id) ?? new Map<string, Disposable>()
    this.#ofSessions.set(session_id, ofSession.set(uri, outcome))
    return outcome
  }

  async end(
    op: AgentOp,
    { session_id, uri }: { readonly session_id: string; readonly uri: string },
  ): Promise<void> {
    const resource = resourceOf(uri)
    if (this.#drop(session_id, uri) && resource)
      await this.#record(op, 'upstream.unsubscribed', resource)
  }

  #drop(session_id: string, uri: string): boolean {
    const ofSession = this.#ofSessions.get(session_id)
    const subscription = ofSession?.get(uri)
    if (!ofSession || !subscription) return false
    subscription[Symbol.dispose]()
    ofSession.delete(uri)
    if (ofSession.size === 0) this.#ofSessions.delete(session_id)
    return true
  }

  async #record(
    op: AgentOp,
    act: string,
    { server: name, inner: uri }: Omit<Resource, 'capability'>,
  ) {
    const { name: agent } = op.actor
    await this.#deps.auditLog.append(actDraft(op, act, { agent, arguments: { name, uri } }))
  }
}

export function bindSubscriptions(deps: SubscriptionDeps): {
  readonly useCases: SubscriptionUseCases
} {
  const subscriptions = new Subscriptions(deps)
  return {
    useCases: {
      watchResource: (op, { uri }, listener) => subscriptions.watch(op, uri, listener),
      subscribeResource: (op, input, listener) => subscriptions.inSession(op, input, listener),
      unsubscribeResource: (op, input) => subscriptions.end(op, input),
    },
  }
}
