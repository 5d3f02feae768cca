import type { GatehouseEvent } from '@gatehouse/contract'

/** Event of a node as the store has it for the others. */
export type SharedEvent = {
  readonly event: GatehouseEvent
  /** Node that published it. */
  readonly node: string
  /** Time at which it was stored, in ms since 1970 of the store's wall clock. */
  readonly at_ms: number
}

/** Events that nodes tell each other by way of the store. */
export interface SharedEventStore {
  /** Must store them, and leave out one whose id is there. */
  add(events: readonly SharedEvent[]): Promise<void>

  /** Must return those that other nodes stored at that moment or later, the oldest first. */
  listSince(atMs: number, exceptOf: string, limit: number): Promise<readonly SharedEvent[]>

  /** Must delete those stored before the moment. */
  prune(beforeMs: number): Promise<void>
}
