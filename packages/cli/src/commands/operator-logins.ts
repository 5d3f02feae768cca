import { defineCommand } from '../define.ts'
import { renderTable } from '../table.ts'

export const operatorLogins = defineCommand({
  name: 'operator logins',
  summary: 'List the active logins of the dashboard',
  examples: ['gatehouse operator logins', 'gatehouse operator logins --json'],
  run: ({ api }) => api.listLogins(),
  text: ({ logins }, view) =>
    logins.length === 0
      ? 'Nobody is logged in to the dashboard.'
      : renderTable(
          [
            { title: 'ID', value: ({ id }) => id },
            { title: 'NAME', value: ({ name }) => name },
            { title: 'LAST USED', time: ({ last_used_at: at }) => at, none: 'unknown' },
            {
              title: 'FROM',
              value: ({ address }) => address ?? '-',
              below: (from) => `from ${from}`,
            },
            { title: 'SINCE', time: ({ created_at: at }) => at, drop: true },
            { title: 'UNTIL', time: ({ expires_at: at }) => at, below: (at) => `until ${at}` },
          ],
          logins,
          view,
        ),
})
