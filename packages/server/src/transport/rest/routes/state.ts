import { GatehouseError, type StateValue } from '@gatehouse/contract'
import type { stateRoutes } from '@gatehouse/contract/routes/state'
import type { App } from '../../../app/app.ts'
import type { Op } from '../../../app/call/op.ts'
import { type Handlers, Refusal } from '../handler.ts'

type Change = Parameters<App['changeState']>[1]

/** A change of another version than the current one gets the current one. */
async function change(op: Op, app: App, input: Change): Promise<StateValue | Refusal> {
  try {
    return await app.changeState(op, input)
  } catch (error) {
    if (!(error instanceof GatehouseError) || error.type !== 'VersionConflict') throw error
    const current = await app.showState(op, input).catch(() => null)
    return new Refusal(error.type, error.facts, { current })
  }
}

export const stateHandlers: Handlers<typeof stateRoutes> = {
  listState: (op, app, input) => app.listState(op, input),
  showState: (op, app, input) => app.showState(op, input),
  setState: (op, app, input) => change(op, app, input),
  deleteState: (op, app, input) => app.deleteState(op, input),
}
