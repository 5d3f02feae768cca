import { GatehouseError, type Session, type SessionId, type Transport } from '@gatehouse/contract'
import type { SessionStore, StoredSession } from '../ports/agents.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ids } from '../ports/ids.ts'

const idleMs = 30 * 60_000
const openPerAgentMax = 10_000

type Open = { readonly session: StoredSession; usedMs: number }

export const sessionRecord = (session: StoredSession): Session => ({
  session_id: session.id as SessionId,
  agent: session.agent as Session['agent'],
  transport: session.transport,
  client: session.client,
  created_at: new Date(session.created_ms).toISOString(),
  ended_at: session.ended_ms === null ? null : new Date(session.ended_ms).toISOString(),
  invocations: session.invocations,
})

/** The open sessions of this process. A session is stored, but is open only where it was opened. */
export class SessionTable {
  readonly #store: SessionStore
  readonly #clock: Clock
  readonly #ids: Ids
  readonly #open = new Map<string, Open>()

  constructor(deps: { storage: { readonly sessions: SessionStore }; clock: Clock; ids: Ids }) {
    this.#store = deps.storage.sessions
    this.#clock = deps.clock
    this.#ids = deps.ids
  }

  async open(
    agent: string,
    transport: Transport,
    client: StoredSession['client'],
  ): Promise<Session> {
    let openOfAgent = 0
    for (const { session } of this.#open.values()) if (session.agent === agent) openOfAgent += 1
    if (openOfAgent >= openPerAgentMax)
      throw new GatehouseError('QuotaExceeded', { limit: openPerAgentMax, what: 'open sessions' })
    const session: StoredSession = {
      id: this.#ids.next('sess'),
      agent,
      transport,
      client,
      created_ms: this.#clock.wall(),
      ended_ms: null,
      invocations: 0,
    }
    await this.#store.insert(session)
    this.#open.set(session.id, { session, usedMs: this.#clock.now() })
    return sessionRecord(session)
  }

  /** The session if it is open and this agent's; using it keeps it alive. */
  use(id: string, agent: string): StoredSession | null {
    const open = this.#open.get(id)
    if (!open || open.session.agent !== agent) return null
    const nowMs = this.#clock.now()
    if (open.session.transport === 'rpc' && nowMs - open.usedMs > idleMs) return null
    open.usedMs = nowMs
    return open.session
  }

  async end(id: string, agent: string): Promise<string> {
    if (!this.use(id, agent)) throw new GatehouseError('SessionNotFound', { session_id: id })
    this.#open.delete(id)
    const endedMs = this.#clock.wall()
    await this.#store.end(id, endedMs)
    return new Date(endedMs).toISOString()
  }

  async endAll(agent: string): Promise<void> {
    for (const [id, { session }] of this.#open) if (session.agent === agent) this.#open.delete(id)
    await this.#store.endAll(this.#clock.wall(), agent)
  }

  /** Ends what has been idle for 30 minutes. A WebSocket's session lives as long as the socket. */
  async endIdle(): Promise<void> {
    const nowMs = this.#clock.now()
    for (const [id, { session, usedMs }] of this.#open) {
      if (session.transport === 'mcp-websocket' || nowMs - usedMs <= idleMs) continue
      this.#open.delete(id)
      await this.#store.end(id, this.#clock.wall())
    }
  }

  count(): number {
    return this.#open.size
  }
}
