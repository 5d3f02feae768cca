import type { DeletedState, SetState, StateKeys, StateValue } from '@gatehouse/contract'
import type { StateArea } from '../../ports/capability.ts'
import type { Basics } from '../call/basics.ts'
import type { Call } from '../call/call.ts'
import type { Op } from '../call/op.ts'
import type { Part } from '../call/part.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { areaOf, stateOf } from './agent-state.ts'
import { changeState, deleteState, listState, showState } from './people-state.ts'
import { sweepState } from './state-upkeep.ts'

export type StateDeps = Basics & { readonly signal: AbortSignal }

/** Values of agents, and the shared ones under the agent `shared`. */
export interface StateUseCases {
  listState(
    op: Op,
    input: { agent: string; prefix?: string; after?: string; limit: number },
  ): Promise<StateKeys>
  showState(op: Op, input: { agent: string; key: string }): Promise<StateValue>
  changeState(op: Op, input: { agent: string; key: string } & SetState): Promise<StateValue>
  deleteState(op: Op, input: { agent: string; key: string }): Promise<DeletedState>
}

export type State = Part<StateUseCases> & {
  stateOf(call: Call, kind: 'own' | 'shared' | 'scratch'): StateArea
}

const sweepEveryMs = 60_000

/** The values that agents keep. */
export function bindState(deps: StateDeps): State {
  const sweeping = new PollLoop(deps, {
    name: 'looking after values',
    everyMs: sweepEveryMs,
    look: () => sweepState(deps),
  })
  return {
    useCases: {
      listState: (_op, input) => listState(deps, input),
      showState: (_op, input) => showState(deps, input),
      changeState: (op, input) => changeState(op, deps, input),
      deleteState: (op, input) => deleteState(op, deps, input),
    },
    stateOf: (call, kind) => stateOf(deps, call, areaOf(call, kind)),
    async start() {
      // Sessions end with the process that holds them; on a shared store others may hold theirs.
      if (!deps.storage.isNetworked) await deps.storage.state.removeAreas('session:')
      sweeping.start('later')
    },
    stopped: () => sweeping.stopped(),
  }
}
