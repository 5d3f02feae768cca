import type { GatehouseEvent } from '@gatehouse/contract'

/** Event bus: tells listeners now, and keeps events a while for those who poll. */
export interface EventBus {
  /** Must never throw and never wait for a listener. */
  publish(event: Omit<GatehouseEvent, 'id' | 'timestamp'>): void

  /** Must call the listener for each later event until it is disposed. */
  subscribe(listener: (event: GatehouseEvent) => void): Disposable

  /**
   * Must return the kept events of an agent after the id (all kept ones without it), oldest first, and
   * wait up to `waitMs` when there are none.
   */
  poll(
    agent: string,
    after: string | undefined,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<readonly GatehouseEvent[]>
}

/** The same with the way to and from other nodes. */
export interface NodeEventBus extends EventBus {
  /** Must deliver an event that another node published, under its id, and tell no other node. */
  take(event: GatehouseEvent): void

  /** Must call back for each event that a process of this node publishes. */
  onOwn(tell: (event: GatehouseEvent) => void): Disposable
}
