import { callText } from '../approval-card.ts'
import { defineCommand } from '../define.ts'
import { renderTable } from '../table.ts'

export const schedulesList = defineCommand({
  name: 'schedules list',
  summary: 'List calls that agents scheduled, newest first',
  options: {
    agent: { value: 'NAME', about: 'only this agent' },
    limit: { value: 'N', integer: true, about: 'at most this many (50)' },
    offset: { value: 'N', integer: true, about: 'skip this many' },
  },
  examples: ['gatehouse schedules list', 'gatehouse schedules list --agent mailbot --json'],
  run: ({ api }, { agent, limit, offset }) => api.listSchedules({ agent, limit, offset }),
  text: ({ schedules, total }, view) =>
    schedules.length === 0
      ? 'No agent has put off a call.'
      : [
          renderTable(
            [
              { title: 'ID', value: (schedule) => schedule.schedule_id },
              { title: 'STATUS', value: (schedule) => schedule.status },
              { title: 'AGENT', value: (schedule) => schedule.agent },
              { title: 'WHAT', value: callText, below: true },
              { title: 'NEXT', time: ({ next_run_at: at }) => at, none: '-' },
              {
                title: 'WHEN',
                value: ({ schedule, time_zone }) =>
                  schedule ? `${schedule} ${time_zone}` : 'once',
                below: true,
              },
              { title: 'FOR', value: ({ description }) => description || '-', below: true },
            ],
            schedules,
            view,
          ),
          ...(total > schedules.length ? [`${schedules.length} of ${total} shown.`] : []),
        ].join('\n'),
})
