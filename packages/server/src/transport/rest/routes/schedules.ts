import type { scheduleRoutes } from '@gatehouse/contract/routes/schedules'
import type { Handlers } from '../handler.ts'

export const scheduleHandlers: Handlers<typeof scheduleRoutes> = {
  listSchedules: (op, app, input) => app.listSchedules(op, input),
  deleteSchedule: (op, app, { id }) => app.deleteSchedule(op, { schedule_id: id }),
}
