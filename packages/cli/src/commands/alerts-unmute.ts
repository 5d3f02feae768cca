import type { UnmuteAlerts } from '@gatehouse/contract'
import { alertHandlingText } from '../alert-handling-text.ts'
import { defineCommand } from '../define.ts'

export const alertsUnmute = defineCommand({
  name: 'alerts unmute',
  summary: 'Notify of a kind of alerts again',
  args: { kind: 'the kind that is muted' },
  options: { agent: { value: 'NAME', about: 'the mute of this agent alone' } },
  examples: ['gatehouse alerts unmute disk', 'gatehouse alerts unmute agent --agent mailbot'],
  run: ({ api }, { kind, agent }) => api.unmuteAlerts({ kind, agent } as UnmuteAlerts),
  text: alertHandlingText,
})
