import type { GatehouseEvent } from '@gatehouse/contract'

/** Event of a node as the store has it for the others. */
export type SharedEvent = {
  readonly event: GatehouseEvent
  /** Node that published it. */
  readonly node: string
  /** Time of the store's wall clock shortly before it was stored, in ms since 1970. */
  readonly at_ms: number
}

/** Place of an event among all that were stored: what was stored together has one number, and more may still come at it. */
export type EventPlace = {
  readonly stored_by: number
  readonly at_ms: number
  readonly id: string
}

/** Events that nodes tell each other by way of the store. */
export interface SharedEventStore {
  /** Must store them, and leave out one whose id is there. */
  add(events: readonly SharedEvent[]): Promise<void>

  /** Must return a number below which every look that begins now finds all there will ever be. */
  horizon(): Promise<number>

  /** Must return those of other nodes that lie behind the place, the first ones first. */
  listAfter(
    place: EventPlace,
    exceptOf: string,
    limit: number,
  ): Promise<readonly (SharedEvent & { readonly stored_by: number })[]>

  /** Must delete those stored before the moment. */
  prune(beforeMs: number): Promise<void>
}
