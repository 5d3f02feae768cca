import { ActivityPage } from '@gatehouse/contract'
import { z } from 'zod'
import { defineRoute, ok, type Route } from '../define.ts'
import { queryInteger, queryText } from '../fields.ts'

const list = defineRoute({
  method: 'GET',
  path: '/api/activity',
  operationId: 'listActivity',
  summary: 'What happened, newest first: calls, approvals, sessions, changes, alerts',
  permission: 'read',
  query: z.strictObject({
    agent: queryText().optional(),
    limit: queryInteger({ min: 1, max: 500, default: 50 }),
    offset: queryInteger({ min: 0, max: 1_000_000_000, default: 0 }),
  }),
  response: ActivityPage,
  errors: [],
  handle: async (op, app, { query: { agent, limit, offset } }) =>
    ok(await app.listActivity(op, { limit, offset, ...(agent === undefined ? {} : { agent }) })),
})

const stream = defineRoute({
  method: 'GET',
  path: '/api/activity/stream',
  operationId: 'streamActivity',
  summary:
    'The same as it happens, as server-sent events; Last-Event-ID or `after` goes on from there',
  permission: 'read',
  query: z.strictObject({
    agent: queryText().optional(),
    after: queryText(8192).optional(),
  }),
  response: 'events',
  errors: [],
  async handle(op, app, { query: { agent, after }, lastEventId }) {
    const from = lastEventId ?? after
    return {
      kind: 'feed',
      name: 'activity',
      open: (signal) =>
        app.followActivity(
          { ...op, signal },
          {
            ...(agent === undefined ? {} : { agent }),
            ...(from === undefined ? {} : { after: from }),
          },
        ),
    }
  },
})

export const activityRoutes: readonly Route[] = [list, stream]
