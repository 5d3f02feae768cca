import type { MuteAlerts } from '@gatehouse/contract'
import { alertHandlingText } from '../alert-handling-text.ts'
import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { secondsOf } from '../times.ts'

export const alertsMute = defineCommand({
  name: 'alerts mute',
  summary: 'Notify nobody of a kind of alerts for a time',
  args: { kind: 'the kind: agent, disk, audit and so on, as alerts list --json has it' },
  options: {
    for: { value: 'TIME', about: 'how long, such as 2h or 7d; at most 30d (1h)' },
    reason: { value: 'TEXT', about: 'why, for the others and the log' },
    agent: { value: 'NAME', about: 'with the kind agent: the alerts of this one alone' },
  },
  examples: [
    'gatehouse alerts mute disk --for 2h --reason "the new disk comes tonight"',
    'gatehouse alerts mute agent --agent mailbot --for 1d --reason "known, being mended"',
  ],
  run({ api }, { kind, for: time = '1h', reason, agent }) {
    const seconds = secondsOf(time)
    if (seconds === null) throw usageError(`--for is a time such as 2h or 7d, not "${time}".`)
    if (reason === undefined) throw usageError('Say why: --reason TEXT.')
    const input = { kind, agent, seconds, reason } as MuteAlerts
    return api.muteAlerts(input)
  },
  text: alertHandlingText,
})
