import { GatehouseError, type Session, type SessionId, type Transport } from '@gatehouse/contract'
import type { SessionClient, SessionStore, StoredSession } from '../../ports/agents.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { AgentOp, Op } from '../call/op.ts'
import { scratchArea } from '../state/state-areas.ts'

const idleMs = 30 * 60_000
const openPerAgentMax = 10_000

type Deps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'ids'>
type Open = {
  session: StoredSession
  usedMs: number
  /** Streams and waiting calls that are open in it. */
  held: number
  clientKey?: string
}

export const sessionRecord = (session: StoredSession): Session => ({
  session_id: session.id as SessionId,
  agent: session.agent as Session['agent'],
  transport: session.transport,
  client: session.client,
  created_at: new Date(session.created_ms).toISOString(),
  ended_at: session.ended_ms === null ? null : new Date(session.ended_ms).toISOString(),
  invocations: session.invocations,
})

const about = (op: Op, act: string, { id, agent, transport, client }: StoredSession) =>
  actDraft(op, act, { agent, arguments: { session_id: id, transport, client } })

/** Sessions of other nodes that ended are looked for back to this long before the last look: commits may be late, and clocks apart. */
const endedOverlapMs = 120_000
/** Within this long before a look a session counts as used now. */
const usedWithinMs = 120_000
/** A node that died ends no sessions. Others do, this long after the time at which it would have. */
const leftAfterMs = 120_000
const leftAtOnceMax = 1_000
/** Newest sessions of an agent among which that of a client is looked for. */
const joinedMax = 50

/**
 * The open sessions of this process. On a store that nodes share, a session of another node is taken over by its id where
 * a client comes here with it; that of a WebSocket ends with it.
 */
export class SessionTable {
  readonly #deps: Deps
  readonly #open = new Map<string, Open>()
  /** Sessions of clients that name none, or their opening, by token and client. */
  readonly #ofClients = new Map<string, string | Promise<string>>()
  readonly #listeners = new Set<(id: string) => void>()

  #lookedMs: number

  constructor(deps: Deps) {
    this.#deps = deps
    this.#lookedMs = deps.clock.wall()
  }

  async open(
    op: Omit<Op, 'session_id'>,
    agent: string,
    transport: Transport,
    client: StoredSession['client'],
    { joins = false } = {},
  ): Promise<Session> {
    let openOfAgent = 0
    for (const { session } of this.#open.values()) if (session.agent === agent) openOfAgent += 1
    if (openOfAgent >= openPerAgentMax)
      throw new GatehouseError('QuotaExceeded', { limit: openPerAgentMax, what: 'open sessions' })
    const session: StoredSession = {
      id: this.#deps.ids.next('sess'),
      agent,
      transport,
      client,
      created_ms: this.#deps.clock.wall(),
      ended_ms: null,
      invocations: 0,
    }
    const opened = await this.#deps.auditLog.transaction(async (tx) => {
      const known = joins ? await this.#sameClient(tx.sessions, session) : null
      if (known) return known
      await tx.sessions.insert(session)
      await tx.agents.connected(agent, session.created_ms)
      tx.append(about({ ...op, session_id: session.id }, 'session.started', session))
      return session
    })
    this.#open.set(opened.id, { session: opened, usedMs: this.#deps.clock.now(), held: 0 })
    return sessionRecord(opened)
  }

  /** Says who the client is of a session that began before it said so; one that has ended stays as it was. */
  async initialize(op: Op, id: string, agent: string, client: SessionClient): Promise<void> {
    const open = this.#open.get(id)
    if (open?.session.agent !== agent) return
    const session = { ...open.session, client }
    const isSet = await this.#deps.auditLog.transaction(async (tx) => {
      if (!(await tx.sessions.setClient(id, client))) return false
      tx.append(about({ ...op, session_id: id }, 'session.initialized', session))
      return true
    })
    if (isSet) open.session = session
  }

  /** Session that the client of this one has on another node. */
  async #sameClient(
    sessions: SessionStore,
    { agent, transport, client }: StoredSession,
  ): Promise<StoredSession | null> {
    const sinceMs = this.#deps.clock.wall() - idleMs
    const wanted = JSON.stringify([transport, client?.name, client?.version])
    for (const one of await sessions.listOf(agent, joinedMax)) {
      const its = JSON.stringify([one.transport, one.client?.name, one.client?.version])
      if (one.ended_ms !== null || its !== wanted) continue
      const used = await sessions.findUsed(one.id, sinceMs)
      if (used) return used
    }
    return null
  }

  /** The session if it is open, on whatever node, and this agent's; using it keeps it alive. */
  async find(id: string, agent: string): Promise<StoredSession | null> {
    const { storage, clock } = this.#deps
    const here = this.use(id, agent)
    if (here || !storage.isNetworked) return here
    const found = await storage.sessions.findUsed(id, clock.wall() - idleMs)
    if (found?.agent !== agent || found.transport === 'mcp-websocket') return null
    if (!this.#open.has(id)) this.#open.set(id, { session: found, usedMs: clock.now(), held: 0 })
    return this.use(id, agent)
  }

  /** Forgets what ended on another node. */
  async followEnds(): Promise<void> {
    const { storage, clock } = this.#deps
    const wallMs = clock.wall()
    for (const id of await storage.sessions.endedSince(this.#lookedMs - endedOverlapMs))
      if (this.#open.has(id)) this.#forget(id)
    this.#lookedMs = wallMs
  }

  /**
   * The session of a client that names none: one for each token and client, opened by its first request and
   * again by the next one after it has ended.
   */
  ofClient(
    op: Omit<AgentOp, 'session_id'>,
    transport: Transport,
    client: StoredSession['client'],
  ): string | Promise<string> {
    const { name, credential } = op.actor
    const clientKey = JSON.stringify([name, credential, transport, client?.name, client?.version])
    const known = this.#ofClients.get(clientKey)
    if (known instanceof Promise) return known
    if (known !== undefined && this.use(known, name)) return known
    const opening = this.#openOfClient(op, transport, client, clientKey)
    this.#ofClients.set(clientKey, opening)
    return opening
  }

  async #openOfClient(
    op: Omit<AgentOp, 'session_id'>,
    transport: Transport,
    client: StoredSession['client'],
    clientKey: string,
  ): Promise<string> {
    try {
      const joins = this.#deps.storage.isNetworked
      const { session_id } = await this.open(op, op.actor.name, transport, client, { joins })
      const open = this.#open.get(session_id)
      // A revocation may have ended it already.
      if (open) {
        open.clientKey = clientKey
        this.#ofClients.set(clientKey, session_id)
      } else this.#ofClients.delete(clientKey)
      return session_id
    } catch (cause) {
      this.#ofClients.delete(clientKey)
      throw cause
    }
  }

  /** Calls the listener with each session that ends. */
  onEnd(listener: (id: string) => void): void {
    this.#listeners.add(listener)
  }

  /** The session if it is open and this agent's; using it keeps it alive. */
  use(id: string, agent: string): StoredSession | null {
    const open = this.#open.get(id)
    if (!open || open.session.agent !== agent) return null
    const nowMs = this.#deps.clock.now()
    if (open.session.transport === 'rpc' && this.#isIdle(open)) return null
    open.usedMs = nowMs
    return open.session
  }

  /** Keeps the session from ending as idle until it is disposed, where it is open and this agent's. */
  hold(id: string | null, agent: string): Disposable {
    const open = id !== null && this.use(id, agent) && this.#open.get(id)
    if (!open) return { [Symbol.dispose]: () => {} }
    open.held += 1
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return
        isHeld = false
        open.held -= 1
        open.usedMs = this.#deps.clock.now()
      },
    }
  }

  async end(op: Op, id: string, agent: string): Promise<string> {
    const session = await this.find(id, agent)
    if (!session) throw new GatehouseError('SessionNotFound', { session_id: id })
    return new Date(await this.#end(op, [session])).toISOString()
  }

  async endAll(op: Op, agent: string): Promise<void> {
    const sessions = [...this.#open.values()].map(({ session }) => session)
    const ended = await this.#end(
      op,
      sessions.filter((session) => session.agent === agent),
    )
    // Sessions that another node holds open, or that a crash left.
    await this.#deps.storage.sessions.endAll(ended, agent)
  }

  /** Ends what has been idle for 30 minutes. A WebSocket's session lives as long as the socket. */
  async endIdle(op: Op): Promise<void> {
    const idle: StoredSession[] = []
    for (const open of this.#open.values())
      if (open.session.transport !== 'mcp-websocket' && this.#isIdle(open)) idle.push(open.session)
    const left = this.#deps.storage.isNetworked ? await this.#unusedAnywhere(idle) : idle
    if (left.length > 0) await this.#end(op, left)
  }

  /** Tells which sessions are used here, and returns those that no node uses: of these, and of nodes that died. */
  async #unusedAnywhere(idle: readonly StoredSession[]): Promise<readonly StoredSession[]> {
    const { storage, clock } = this.#deps
    const [nowMs, wallMs] = [clock.now(), clock.wall()]
    const used = [...this.#open.values()].filter(
      ({ held, usedMs, session }) =>
        held > 0 || session.transport === 'mcp-websocket' || nowMs - usedMs < usedWithinMs,
    )
    await storage.sessions.used(
      used.map(({ session }) => session.id),
      wallMs,
    )
    const left: StoredSession[] = []
    for (const session of idle) {
      if (await storage.sessions.findUsed(session.id, wallMs - idleMs)) this.#forget(session.id)
      else left.push(session)
    }
    const known = new Set(left.map(({ id }) => id))
    const others = await storage.sessions.listUnused(wallMs - idleMs - leftAfterMs, leftAtOnceMax)
    return [...left, ...others.filter(({ id }) => !known.has(id) && !this.#open.has(id))]
  }

  #forget(id: string): void {
    const clientKey = this.#open.get(id)?.clientKey
    if (clientKey !== undefined) this.#ofClients.delete(clientKey)
    this.#open.delete(id)
    for (const listener of this.#listeners) listener(id)
  }

  #isIdle({ held, usedMs }: Open): boolean {
    return held === 0 && this.#deps.clock.now() - usedMs > idleMs
  }

  /** With each session goes what it kept for itself. */
  async #end(op: Op, sessions: readonly StoredSession[]): Promise<number> {
    const endedMs = this.#deps.clock.wall()
    for (const { id } of sessions) this.#forget(id)
    if (sessions.length === 0) return endedMs
    await this.#deps.auditLog.transaction(async (tx) => {
      for (const session of sessions) {
        if (!(await tx.sessions.end(session.id, endedMs))) continue
        await tx.state.removeAreas(scratchArea(session.id).name)
        tx.append(about({ ...op, session_id: session.id }, 'session.ended', session))
      }
    })
    return endedMs
  }

  count(): number {
    return this.#open.size
  }
}
