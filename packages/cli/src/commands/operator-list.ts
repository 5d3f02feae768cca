import { defineCommand } from '../define.ts'
import { renderTable } from '../table.ts'

export const operatorList = defineCommand({
  name: 'operator list',
  summary: 'List the operators who can log in to the dashboard',
  examples: ['gatehouse operator list', 'gatehouse operator list --json'],
  run: ({ api }) => api.listOperators(),
  text: ({ operators }, view) =>
    operators.length === 0
      ? `Nobody can log in yet. Create the first operator: ${view.next('setup-link')}`
      : renderTable(
          [
            { title: 'NAME', value: ({ name }) => name },
            { title: 'ROLE', value: ({ role }) => role },
            { title: 'SINCE', time: ({ created_at: at }) => at },
            { title: 'PASSWORD OF', time: ({ password_changed_at: at }) => at },
          ],
          operators,
          view,
        ),
})
