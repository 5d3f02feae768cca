import { Grant, GrantList } from '@gatehouse/contract'
import { z } from 'zod'
import { defineRoute, ok, type Route } from '../define.ts'
import { pathName, queryInteger, queryText } from '../fields.ts'

const list = defineRoute({
  method: 'GET',
  path: '/api/grants',
  operationId: 'listGrants',
  summary: 'What runs without asking again: remembered approvals, newest first',
  permission: 'read',
  query: z.strictObject({
    status: z.enum(['usable', 'all']).default('usable'),
    agent: queryText().optional(),
    limit: queryInteger({ min: 1, max: 1000, default: 100 }),
    offset: queryInteger({ min: 0, max: 1_000_000_000, default: 0 }),
  }),
  response: GrantList,
  errors: [],
  handle: async (op, app, { query: { status, agent, limit, offset } }) =>
    ok(
      await app.listGrants(op, {
        all: status === 'all',
        limit,
        offset,
        ...(agent === undefined ? {} : { agent }),
      }),
    ),
})

const revoke = defineRoute({
  method: 'DELETE',
  path: '/api/grants/:id',
  operationId: 'revokeGrant',
  summary: 'End a standing grant; the next call asks again',
  permission: 'approvals.decide',
  params: z.object({ id: pathName }),
  response: Grant,
  errors: ['GrantNotFound'],
  handle: async (op, app, { params: { id } }) => ok(await app.revokeGrant(op, { grant_id: id })),
})

export const grantRoutes: readonly Route[] = [list, revoke]
