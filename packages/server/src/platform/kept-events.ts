import type { GatehouseEvent } from '@gatehouse/contract'
import { jsonBytesMax } from '../domain/arguments.ts'

const keptPerAgent = 500
const agentsKept = 10_000
/** By `jsonBytesMax`, which says three times what most texts take. */
const bytesKept = 48 * 1024 * 1024
const bytesKeptPerAgent = bytesKept / 4

type Kept = { readonly events: { event: GatehouseEvent; bytes: number }[]; bytes: number }

/** The newest 500 events of each agent, and fewer where they are large; the newest one in any case. */
export class KeptEvents {
  readonly #agents = new Map<string, Kept>()
  #bytes = 0

  add(event: GatehouseEvent): void {
    const own = this.#agents.get(event.agent) ?? { events: [], bytes: 0 }
    // Re-inserting keeps the map ordered by last use, so the first key is the one to drop.
    this.#agents.delete(event.agent)
    this.#agents.set(event.agent, own)
    this.#dropSame(own, event)
    const bytes = jsonBytesMax(event.data)
    own.events.push({ event, bytes })
    own.bytes += bytes
    this.#bytes += bytes
    while (own.events.length > keptPerAgent) this.#drop(own, 0)
    while (own.events.length > 1 && own.bytes > bytesKeptPerAgent) this.#drop(own, 0)
    while (this.#isFull()) {
      const [agent, { bytes: theirs }] = this.#agents.entries().next().value ?? ['', own]
      this.#agents.delete(agent)
      this.#bytes -= theirs
    }
  }

  after(agent: string, id: string | undefined): readonly GatehouseEvent[] {
    const events = (this.#agents.get(agent)?.events ?? []).map(({ event }) => event)
    if (id === undefined) return events
    const at = events.findIndex((event) => event.id === id)
    // An id that is no longer kept: what is kept is newer, so all of it is news.
    return at < 0 ? events.filter((event) => event.id > id) : events.slice(at + 1)
  }

  /** Events without facts, such as that of a changed list: the newest says all. */
  #dropSame(own: Kept, { type, data }: GatehouseEvent): void {
    if (Object.keys(data).length > 0) return
    const at = own.events.findIndex(({ event }) => event.type === type)
    if (at >= 0) this.#drop(own, at)
  }

  #isFull(): boolean {
    const { size } = this.#agents
    return size > agentsKept || (size > 1 && this.#bytes > bytesKept)
  }

  #drop(own: Kept, at: number): void {
    const bytes = own.events.splice(at, 1)[0]?.bytes ?? 0
    own.bytes -= bytes
    this.#bytes -= bytes
  }
}
