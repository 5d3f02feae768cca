import { DeletedState, GatehouseError, SetState, StateKeys, StateValue } from '@gatehouse/contract'
import { z } from 'zod'
import type { App } from '../../../app/app.ts'
import type { Op } from '../../../app/op.ts'
import { type Answer, conflict, defineRoute, ok, type Route } from '../define.ts'
import { pathName, queryInteger, queryText } from '../fields.ts'

/** A key is opaque and percent-encoded: what it may be is the application's to say. */
const params = z.object({ agent: pathName, key: z.string().min(1).max(4096) })
const keysMax = 10_000

const list = defineRoute({
  method: 'GET',
  path: '/api/state/:agent',
  operationId: 'listState',
  summary: 'The keys of an agent, or under `shared` those that all agents share',
  permission: 'read',
  params: z.object({ agent: pathName }),
  query: z.strictObject({
    prefix: queryText(512).optional(),
    after: queryText(512).optional(),
    limit: queryInteger({ min: 1, max: keysMax, default: keysMax }),
  }),
  response: StateKeys,
  errors: ['AgentNotFound'],
  async handle(op, app, { params: { agent }, query: { prefix, after, limit } }) {
    const range = {
      ...(prefix === undefined ? {} : { prefix }),
      ...(after === undefined ? {} : { after }),
      limit,
    }
    return ok(await app.listState(op, { agent, ...range }))
  },
})

const show = defineRoute({
  method: 'GET',
  path: '/api/state/:agent/:key',
  operationId: 'showState',
  summary: 'The value of one key',
  permission: 'read',
  params,
  response: StateValue,
  errors: ['AgentNotFound', 'StateNotFound'],
  handle: async (op, app, { params: input }) => ok(await app.showState(op, input)),
})

type Change = Parameters<App['changeState']>[1]

/** Whoever changes another version than the one that stands gets the one that stands. */
async function change(op: Op, app: App, input: Change): Promise<Answer<StateValue>> {
  try {
    return ok(await app.changeState(op, input))
  } catch (error) {
    if (!(error instanceof GatehouseError) || error.type !== 'VersionConflict') throw error
    const current = await app.showState(op, input).catch(() => null)
    return conflict(error.type, error.facts, current)
  }
}

const set = defineRoute({
  method: 'PUT',
  path: '/api/state/:agent/:key',
  operationId: 'setState',
  summary: 'Store a value under a key',
  permission: 'state.manage',
  params,
  body: SetState,
  response: StateValue,
  errors: [
    'AgentNotFound',
    'InvalidKey',
    'VersionConflict',
    'ValueTooLarge',
    'StateQuotaExceeded',
    'QuotaExceeded',
  ],
  handle: (op, app, { params: place, body }) => change(op, app, { ...place, ...body }),
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/api/state/:agent/:key',
  operationId: 'deleteState',
  summary: 'Delete a key; an audit entry says so',
  permission: 'state.manage',
  params,
  response: DeletedState,
  errors: ['AgentNotFound', 'StateNotFound'],
  handle: async (op, app, { params: input }) => ok(await app.deleteState(op, input)),
})

export const stateRoutes: readonly Route[] = [list, show, set, remove]
