import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { renderTable } from '../table.ts'

export const proxyStatus = defineCommand({
  name: 'proxy status',
  summary: 'List connected services: status, last sync and pending writes',
  examples: ['gatehouse proxy status', 'gatehouse proxy status --json'],
  run: ({ api }) => api.showProxy(),
  text({ services }, view) {
    if (services.length === 0)
      return `No service is connected. Connect one: ${view.next('proxy connect KIND')} (the kinds: ${view.next('proxy kinds')})`
    const table = renderTable(
      [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'STATUS', value: ({ status }) => status },
        { title: 'LAST SYNC', time: ({ last_sync }) => last_sync },
        { title: 'ENTRIES', value: (service) => service.replica_entries },
        { title: 'WAITING', value: (service) => service.buffered_writes },
        { title: 'UNDOABLE', value: (service) => service.rollback_points },
        { title: 'FAILED', value: (service) => service.dead_letters },
        {
          title: 'AGENTS',
          value: ({ agents }) => agents.join(', '),
          below: (text) => `for ${text}`,
        },
      ],
      services,
      view,
    )
    const reasons = services
      .filter(({ reason }) => reason !== null)
      .map(({ name, reason }) => `${name}: ${escapeText(reason ?? '')}`)
    return [table, ...reasons].join('\n')
  },
})
