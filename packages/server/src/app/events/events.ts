import type { GatehouseEvent } from '@gatehouse/contract'
import type { ChangedList } from '../../ports/upstream.ts'
import { recordPolled } from '../approvals/record-delivery.ts'
import type { Basics } from '../call/basics.ts'
import type { MemoryBudget } from '../call/memory-budget.ts'
import { type AgentOp, isRead } from '../call/op.ts'
import type { Part } from '../call/part.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { readInRoom } from '../call/read-in-room.ts'
import { memoryOf } from '../call/result-bytes.ts'
import type { ListDeps } from '../gate/list-capabilities.ts'
import { ListChanges } from './list-changes.ts'
import { Pushes, type Tell } from './pushes.ts'

export type EventDeps = Basics &
  ListDeps & {
    readonly memory: MemoryBudget
    /** Told which events an agent got. */
    readonly delivered: (events: readonly GatehouseEvent[]) => void
    readonly signal: AbortSignal
  }

export type Events = Part<EventUseCases> & {
  /** Tells agents of a change of prompts or resources of an upstream server. */
  listChanged(change: ChangedList): void
}

export interface EventUseCases {
  pollEvents(
    op: AgentOp,
    input: { after?: string; timeout_ms: number },
  ): Promise<readonly GatehouseEvent[]>
  /** Tells a connection each event of its agent: approvals resolved, lists changed, files changed. */
  subscribeEvents(agent: string, tell: Tell): Disposable
}

const reachEveryMs = 1_000

/** Events for agents, by asking or over an open connection. */
export function bindEvents(deps: EventDeps): Events {
  const { events, delivered } = deps
  const lists = new ListChanges(deps)
  const pushes = new Pushes({ ...deps, reached: (event) => delivered([event]) })
  const polling = new PollLoop(deps, {
    name: 'looking for other tools',
    everyMs: reachEveryMs,
    look: () => lists.look(),
  })
  const poll = async (
    op: AgentOp,
    { after, timeout_ms }: { readonly after?: string; readonly timeout_ms: number },
    takeRoom: () => Promise<void>,
  ): Promise<readonly GatehouseEvent[]> => {
    const found = await events.poll(op.actor.name, after, timeout_ms, op.signal)
    // An answer to a caller that has gone away is no delivery: nobody reads it.
    if (!isRead(op)) return found
    await takeRoom()
    await recordPolled(deps, found)
    delivered(found)
    return found
  }
  return {
    useCases: {
      pollEvents: (op, input) =>
        readInRoom(
          op,
          deps,
          (polled) => memoryOf({ polled }),
          (takeRoom) => poll(op, input, takeRoom),
        ),
      subscribeEvents(agent, tell) {
        lists.listen(agent)
        const subscription = events.subscribe((event) => {
          if (event.agent === agent) pushes.push(event, tell)
        })
        return {
          [Symbol.dispose]() {
            lists.leave(agent)
            subscription[Symbol.dispose]()
          },
        }
      },
    },
    listChanged: (change) => lists.changed(change),
    start: async () => polling.start('later'),
    async stopped() {
      lists[Symbol.dispose]()
      await Promise.all([pushes.stopped(), polling.stopped()])
    },
  }
}
