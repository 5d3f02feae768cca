import type { GatehouseEvent } from '@gatehouse/contract'
import type { Delivered, StoredApproval } from '../../domain/approvals/approval.ts'
import { resolvedApproval } from '../approvals/record-delivery.ts'
import type { Basics } from '../call/basics.ts'

/** Writes an event to one connection: whether it left this process for the peer. */
export type Tell = (event: GatehouseEvent) => boolean | Promise<boolean>

type Push = { readonly begun: Promise<void>; connections: number; taken: boolean }

type Deps = Pick<Basics, 'storage' | 'log'> & {
  /** Told of each event that reached a connection. */
  readonly reached: (event: GatehouseEvent) => void
}

/**
 * Pushes events to the open connections of agents. An outcome is recorded as `sending` before it is
 * written, so that a call made on receiving it, on whatever node, is a new call; it counts as delivered
 * once one connection has taken it, and is open again where none could.
 */
export class Pushes {
  readonly #deps: Deps
  readonly #outcomes = new Map<string, Push>()
  readonly #running = new Set<Promise<void>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** To be called for all connections of an agent in one turn. */
  push(event: GatehouseEvent, tell: Tell): void {
    const id = resolvedApproval(event)
    const running = (id === null ? this.#plain(event, tell) : this.#outcome(id, event, tell))
      .catch((cause: unknown) =>
        this.#deps.log.warn({ err: cause, event: event.type }, 'an event could not be pushed'),
      )
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  /** Resolves when nothing is being pushed any more. */
  async stopped(): Promise<void> {
    await Promise.all(this.#running)
  }

  async #plain(event: GatehouseEvent, tell: Tell): Promise<void> {
    if (await tell(event)) this.#deps.reached(event)
  }

  async #outcome(id: string, event: GatehouseEvent, tell: Tell): Promise<void> {
    const push = this.#outcomes.get(id) ?? {
      begun: this.#change(id, 'no', 'sending'),
      connections: 0,
      taken: false,
    }
    this.#outcomes.set(id, push)
    push.connections += 1
    try {
      await push.begun
      push.taken = (await tell(event)) || push.taken
    } finally {
      push.connections -= 1
      if (push.connections === 0) {
        this.#outcomes.delete(id)
        await this.#change(id, 'sending', push.taken ? 'yes' : 'no')
      }
    }
  }

  /** Leaves it as it is where another way of delivery was first. */
  async #change(id: string, from: Delivered, to: Delivered): Promise<void> {
    const { approvals } = this.#deps.storage
    const current: StoredApproval | null = await approvals.find(id)
    if (current?.delivered === from) await approvals.replace(current, { ...current, delivered: to })
  }
}
