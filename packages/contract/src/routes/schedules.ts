import { z } from 'zod'
import { Schedule, ScheduleList } from '../schedule.ts'
import { defineRoutes } from './define-routes.ts'
import { page, queryText } from './fields.ts'

export const scheduleRoutes = defineRoutes({
  listSchedules: {
    method: 'GET',
    path: '/api/schedules',
    summary: 'The calls that agents put off, the newest first',
    permission: 'read',
    query: z.object({
      agent: queryText().optional(),
      ...page({ max: 500, default: 50 }),
    }),
    answer: ScheduleList,
  },
  deleteSchedule: {
    method: 'DELETE',
    path: '/api/schedules/:id',
    summary: 'End a schedule; a run that is under way is not stopped',
    permission: 'schedules.manage',
    answer: Schedule,
    errors: ['ScheduleNotFound'],
  },
})
