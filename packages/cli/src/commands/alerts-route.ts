import type { RouteAlerts } from '@gatehouse/contract'
import { alertHandlingText } from '../alert-handling-text.ts'
import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'

export const alertsRoute = defineCommand({
  name: 'alerts route',
  summary: 'Choose the notification targets that a kind of alerts is sent to',
  args: { kind: 'the kind: agent, disk, audit and so on' },
  options: {
    to: { value: 'TARGETS', many: true, about: 'names of targets; see notifications list' },
    nowhere: { about: 'to no target' },
    everywhere: { about: 'to every target that takes alerts, as at first' },
  },
  examples: [
    'gatehouse alerts route disk --to phone',
    'gatehouse alerts route agent --nowhere',
    'gatehouse alerts route disk --everywhere',
  ],
  run({ api }, { kind, to, nowhere, everywhere }) {
    if (Number(to !== undefined) + Number(nowhere) + Number(everywhere) !== 1)
      throw usageError('Give one of --to TARGETS, --nowhere and --everywhere.')
    const targets = everywhere ? null : [...(to ?? [])]
    return api.routeAlerts({ kind, targets } as RouteAlerts)
  },
  text: alertHandlingText,
})
