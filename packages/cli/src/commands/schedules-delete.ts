import { defineCommand } from '../define.ts'

export const schedulesDelete = defineCommand({
  name: 'schedules delete',
  summary: 'Delete a schedule of an agent',
  args: { id: 'its id, as `schedules list` shows it' },
  examples: ['gatehouse schedules delete sched-01jqz4xk2m8v5w9r3t6y0b7n1c'],
  question: ({ id }) => `End the schedule ${id} now?`,
  run: ({ api }, { id }) => api.deleteSchedule({ id }),
  text: (schedule) =>
    `${schedule.agent} makes no more calls of ${schedule.capability} by ${schedule.schedule_id}.`,
})
