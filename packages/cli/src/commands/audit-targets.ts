import { defineCommand } from '../define.ts'
import { renderTable } from '../table.ts'

export const auditTargets = defineCommand({
  name: 'audit targets',
  summary: 'List the export targets of the audit log and how far each one is',
  options: {},
  examples: ['gatehouse audit targets', 'gatehouse audit targets --json'],
  run: ({ api }) => api.listAuditTargets(),
  text: ({ targets }, view) =>
    targets.length === 0
      ? 'The audit log stays on this machine. Name targets in gatehouse.yaml, under audit.targets.'
      : renderTable(
          [
            { title: 'NAME', value: ({ name }) => name },
            { title: 'KIND', value: ({ kind }) => kind },
            { title: 'TAKES', value: ({ takes }) => takes },
            { title: 'AT', value: ({ place }) => place, below: true },
            { title: 'LACKS', value: (target) => `${target.lag_entries}` },
            { title: 'LAST', time: ({ delivered_at: at }) => at },
            { title: 'TROUBLE', value: ({ failure }) => failure ?? '-', cut: true, below: true },
          ],
          targets,
          view,
        ),
})
