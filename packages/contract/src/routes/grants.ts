import { z } from 'zod'
import { Grant, GrantList } from '../grant.ts'
import { defineRoutes } from './define-routes.ts'
import { page, queryText } from './fields.ts'

export const grantRoutes = defineRoutes({
  listGrants: {
    method: 'GET',
    path: '/api/grants',
    summary: 'Standing grants, newest first: approvals that were remembered',
    permission: 'read',
    query: z.strictObject({
      status: z.enum(['usable', 'all']).default('usable'),
      agent: queryText().optional(),
      ...page({ max: 1000, default: 100 }),
    }),
    answer: GrantList,
  },
  revokeGrant: {
    method: 'DELETE',
    path: '/api/grants/:id',
    summary: 'End a standing grant; the next call asks again',
    permission: 'approvals.decide',
    answer: Grant,
    errors: ['GrantNotFound'],
  },
})
