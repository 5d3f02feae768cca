import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredWake, WakeCommands } from '../../ports/wakes.ts'
import type { AgentDirectory } from '../agents/agent-directory.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import { systemOp } from '../call/op.ts'
import { untilStored } from '../call/until-stored.ts'

const mergeMs = 1_000
const openAtStart = 1_000

export type WakeInput = {
  readonly agent: string
  readonly reason?: string
  readonly data?: Readonly<Record<string, unknown>>
}
export type WakeVerdict =
  | { readonly ok: true }
  | { readonly ok: false; readonly error: 'no such agent' | 'the agent is revoked' | 'unavailable' }

type Deps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'ids' | 'events' | 'log'> & {
  readonly directory: AgentDirectory
  readonly commands: Pick<WakeCommands, 'start'>
  readonly signal: AbortSignal
}
type Gathering = { wake: StoredWake; readonly stored: Promise<WakeVerdict> }

/** Wake as an agent is told of it. */
export const wakeRecord = (wake: StoredWake) => ({
  wake_id: wake.id,
  reason: wake.reason,
  data:
    wake.data_json === null
      ? null
      : parseStored<Record<string, unknown>>(wake.data_json, 'wakes.data_json'),
  count: wake.count,
  woken_at: new Date(wake.woken_ms).toISOString(),
})

/**
 * Wakes agents. The first datagram opens a second in which further ones for the same agent join it; then it
 * is recorded, told and kept until the agent has seen it. It carries no authority: whoever is woken still
 * comes through the gate for everything.
 */
export class WakeTable {
  readonly #deps: Deps
  readonly #gathering = new Map<string, Gathering>()
  readonly #telling = new Set<Promise<void>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Tells again what a crash left untold or unseen. */
  async start(): Promise<void> {
    for (const wake of await this.#deps.storage.wakes.listOpen(openAtStart)) {
      if (wake.told_ms === null) this.#tellSoon(wake)
      else this.#publish(wake)
    }
  }

  async stopped(): Promise<void> {
    await Promise.all(this.#telling)
  }

  /** Resolves once the wake would survive a crash. */
  async wake({ agent, reason, data }: WakeInput): Promise<WakeVerdict> {
    const newest = {
      reason: reason ?? null,
      data_json: data === undefined ? null : JSON.stringify(data),
    }
    const joined = this.#gathering.get(agent)
    if (joined) {
      const { wake } = joined
      joined.wake = {
        ...wake,
        reason: newest.reason ?? wake.reason,
        data_json: newest.data_json ?? wake.data_json,
        count: wake.count + 1,
      }
      return joined.stored
    }
    const { ids, clock } = this.#deps
    const wake: StoredWake = {
      ...newest,
      id: ids.next('wake'),
      agent,
      count: 1,
      woken_ms: clock.wall(),
      told_ms: null,
      seen_ms: null,
    }
    const gathering = { wake, stored: this.#store(wake) }
    this.#gathering.set(agent, gathering)
    const verdict = await gathering.stored
    if (verdict.ok) this.#tellSoon(null, agent)
    else this.#gathering.delete(agent)
    return verdict
  }

  /** The agent got to see these: they are not told again after a restart. */
  async seen(wakeIds: readonly string[]): Promise<void> {
    try {
      await this.#deps.storage.wakes.seen(wakeIds, this.#deps.clock.wall())
    } catch (cause) {
      this.#deps.log.warn({ err: cause }, 'wakes could not be marked as seen')
    }
  }

  async #store(wake: StoredWake): Promise<WakeVerdict> {
    const { storage, directory, log } = this.#deps
    try {
      const agent = await directory.find(wake.agent)
      if (!agent) return { ok: false, error: 'no such agent' }
      if (agent.status === 'revoked') return { ok: false, error: 'the agent is revoked' }
      await storage.wakes.put(wake)
      return { ok: true }
    } catch (cause) {
      log.error({ err: cause }, 'a wake could not be stored')
      return { ok: false, error: 'unavailable' }
    }
  }

  #tellSoon(left: StoredWake | null, agent = left?.agent ?? ''): void {
    const telling = this.#tell(left, agent).finally(() => this.#telling.delete(telling))
    this.#telling.add(telling)
  }

  async #tell(left: StoredWake | null, agent: string): Promise<void> {
    const { clock, signal, commands } = this.#deps
    if (!left) await clock.sleep(mergeMs, signal)
    const wake = left ?? this.#gathering.get(agent)?.wake
    if (!left) this.#gathering.delete(agent)
    if (!wake) return
    const told = { ...wake, told_ms: clock.wall() }
    const failed = { facts: { agent }, message: 'a wake could not be recorded' }
    // The wake is stored: what cannot be recorded now is told at the next start.
    if (!(await untilStored(this.#deps, () => this.#record(told), failed))) return
    this.#publish(told)
    const wanted = () => this.#startsCommands(agent)
    // One that the program looked for while it ran needs no other run.
    const stillWanted = async () => (await wanted()) && !(await this.#isSeen(told))
    if (await wanted()) commands.start(agent, told.id, stillWanted)
  }

  async #isSeen({ id, agent, woken_ms }: StoredWake): Promise<boolean> {
    const { storage } = this.#deps
    // Unseen where it cannot be read: rather a run too many.
    const since = await storage.wakes.listOf(agent, woken_ms, openAtStart).catch(() => [])
    return since.some((wake) => wake.id === id && wake.seen_ms !== null)
  }

  async #startsCommands(agent: string): Promise<boolean> {
    const { signal, directory } = this.#deps
    const stands = await directory.find(agent).catch(() => null)
    return stands?.status === 'active' && !signal.aborted
  }

  async #record(wake: StoredWake): Promise<void> {
    const { auditLog } = this.#deps
    const { reason, data, count, wake_id } = wakeRecord(wake)
    await auditLog.transaction(async (tx) => {
      await tx.wakes.put(wake)
      const facts = { agent: wake.agent, arguments: { reason, data }, detail: { wake_id, count } }
      tx.append(actDraft(systemOp(this.#deps), 'agent.woken', facts))
    })
  }

  #publish(wake: StoredWake): void {
    this.#deps.events.publish({ type: 'wake', agent: wake.agent, data: wakeRecord(wake) })
  }
}
