import { GatehouseError, type Session, type SessionId, type Transport } from '@gatehouse/contract'
import type { StoredSession } from '../../ports/agents.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { AgentOp, Op } from '../call/op.ts'
import { scratchArea } from '../state/state-areas.ts'

const idleMs = 30 * 60_000
const openPerAgentMax = 10_000

type Deps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'ids'>
type Open = {
  readonly session: StoredSession
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

/** The open sessions of this process. A session is stored, but is open only where it was opened. */
export class SessionTable {
  readonly #deps: Deps
  readonly #open = new Map<string, Open>()
  /** Sessions of clients that name none, or their opening, by token and client. */
  readonly #ofClients = new Map<string, string | Promise<string>>()
  readonly #listeners = new Set<(id: string) => void>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async open(
    op: Omit<Op, 'session_id'>,
    agent: string,
    transport: Transport,
    client: StoredSession['client'],
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
    await this.#deps.auditLog.transaction(async (tx) => {
      await tx.sessions.insert(session)
      await tx.agents.connected(agent, session.created_ms)
      tx.append(about({ ...op, session_id: session.id }, 'session.started', session))
    })
    this.#open.set(session.id, { session, usedMs: this.#deps.clock.now(), held: 0 })
    return sessionRecord(session)
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
      const { session_id } = await this.open(op, op.actor.name, transport, client)
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
    const session = this.use(id, agent)
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
    if (idle.length > 0) await this.#end(op, idle)
  }

  #isIdle({ held, usedMs }: Open): boolean {
    return held === 0 && this.#deps.clock.now() - usedMs > idleMs
  }

  /** With each session goes what it kept for itself. */
  async #end(op: Op, sessions: readonly StoredSession[]): Promise<number> {
    const endedMs = this.#deps.clock.wall()
    for (const { id } of sessions) {
      const clientKey = this.#open.get(id)?.clientKey
      if (clientKey !== undefined) this.#ofClients.delete(clientKey)
      this.#open.delete(id)
      for (const listener of this.#listeners) listener(id)
    }
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
