import type { AlertHandling } from '@gatehouse/contract'
import type { View } from './define.ts'
import { renderTable } from './table.ts'

/** Mutes, and the kinds that go to targets of their own. */
export const alertHandlingText = ({ mutes, routes }: AlertHandling, view: View): string =>
  [
    mutes.length === 0
      ? 'No alerts are muted.'
      : renderTable(
          [
            { title: 'MUTED', value: ({ kind, agent }) => (agent ? `${kind} ${agent}` : kind) },
            { title: 'UNTIL', time: ({ until }) => until },
            { title: 'BY', value: ({ muted_by }) => muted_by, drop: true },
            { title: 'REASON', value: ({ reason }) => reason, cut: true, below: true },
          ],
          mutes,
          view,
        ),
    routes.length === 0
      ? 'Every kind goes to every notification target that takes alerts.'
      : renderTable(
          [
            { title: 'KIND', value: ({ kind }) => kind },
            { title: 'GOES TO', value: ({ targets }) => targets.join(', ') || 'nobody' },
          ],
          routes,
          view,
        ),
  ].join('\n\n')
