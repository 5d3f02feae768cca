import { Schedule, ScheduleList } from '@gatehouse/contract'
import { z } from 'zod'
import { defineRoute, ok, type Route } from '../define.ts'
import { pathName, queryInteger, queryText } from '../fields.ts'

const list = defineRoute({
  method: 'GET',
  path: '/api/schedules',
  operationId: 'listSchedules',
  summary: 'The calls that agents put off, the newest first',
  permission: 'read',
  query: z.object({
    agent: queryText().optional(),
    limit: queryInteger({ min: 1, max: 500, default: 50 }),
    offset: queryInteger({ min: 0, max: 1_000_000_000, default: 0 }),
  }),
  response: ScheduleList,
  errors: [],
  handle: async (op, app, { query: { agent, ...page } }) =>
    ok(await app.listSchedules(op, { ...page, ...(agent === undefined ? {} : { agent }) })),
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/api/schedules/:id',
  operationId: 'deleteSchedule',
  summary: 'End a schedule; a run that is under way is not stopped',
  permission: 'schedules.manage',
  params: z.object({ id: pathName }),
  response: Schedule,
  errors: ['ScheduleNotFound'],
  handle: async (op, app, { params: { id } }) =>
    ok(await app.deleteSchedule(op, { schedule_id: id })),
})

export const scheduleRoutes: readonly Route[] = [list, remove]
