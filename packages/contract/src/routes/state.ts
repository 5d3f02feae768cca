import { z } from 'zod'
import { DeletedState, SetState, StateKeys, StateValue } from '../state.ts'
import { defineRoutes } from './define-routes.ts'
import { queryInteger, queryText } from './fields.ts'

/** Opaque and percent-encoded: what a key may be is the application's to say. */
const StateKey = z.string().min(1).max(4096)
const keysMax = 10_000

export const stateRoutes = defineRoutes({
  listState: {
    method: 'GET',
    path: '/api/state/:agent',
    summary: 'The keys of an agent, or under `shared` those that all agents share',
    permission: 'read',
    query: z.strictObject({
      prefix: queryText(512).optional(),
      after: queryText(512).optional(),
      limit: queryInteger({ min: 1, max: keysMax, default: keysMax }),
    }),
    answer: StateKeys,
    errors: ['AgentNotFound'],
  },
  showState: {
    method: 'GET',
    path: '/api/state/:agent/:key',
    summary: 'The value of one key',
    permission: 'read',
    params: { key: StateKey },
    answer: StateValue,
    errors: ['AgentNotFound', 'StateNotFound'],
  },
  setState: {
    method: 'PUT',
    path: '/api/state/:agent/:key',
    summary: 'Store a value under a key',
    permission: 'state.manage',
    params: { key: StateKey },
    body: SetState,
    answer: StateValue,
    errors: [
      'AgentNotFound',
      'InvalidKey',
      'VersionConflict',
      'ValueTooLarge',
      'StateQuotaExceeded',
      'QuotaExceeded',
    ],
  },
  deleteState: {
    method: 'DELETE',
    path: '/api/state/:agent/:key',
    summary: 'Delete a key; an audit entry says so',
    permission: 'state.manage',
    params: { key: StateKey },
    answer: DeletedState,
    errors: ['AgentNotFound', 'StateNotFound'],
  },
})
