import { z } from 'zod'
import { ActivityPage } from '../activity.ts'
import { defineRoutes } from './define-routes.ts'
import { page, queryText } from './fields.ts'

export const activityRoutes = defineRoutes({
  listActivity: {
    method: 'GET',
    path: '/api/activity',
    summary: 'Activity, newest first: calls, approvals, sessions, changes, alerts',
    permission: 'read',
    query: z.strictObject({
      agent: queryText().optional(),
      ...page({ max: 500, default: 50 }),
    }),
    answer: ActivityPage,
  },
  streamActivity: {
    method: 'GET',
    path: '/api/activity/stream',
    summary:
      'The same as it happens, as server-sent events; Last-Event-ID or `after` goes on from there',
    permission: 'read',
    query: z.strictObject({
      agent: queryText().optional(),
      after: queryText(8192).optional(),
    }),
    answer: 'events',
  },
})
