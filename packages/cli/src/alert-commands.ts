import type { CommandEntry } from './command-entry.ts'

/** Commands of alerts, and of who hears of them. */
export const alertCommands: readonly CommandEntry[] = [
  {
    name: 'alerts list',
    summary: 'List alerts, newest first',
    load: async () => (await import('./commands/alerts-list.ts')).alertsList,
  },
  {
    name: 'alerts ack',
    summary: 'Acknowledge an alert',
    load: async () => (await import('./commands/alerts-ack.ts')).alertsAck,
  },
  {
    name: 'alerts handling',
    summary: 'Show which kinds of alerts are muted, and who is notified of which',
    load: async () => (await import('./commands/alerts-handling.ts')).alertsHandling,
  },
  {
    name: 'alerts mute',
    summary: 'Notify nobody of a kind of alerts for a time',
    load: async () => (await import('./commands/alerts-mute.ts')).alertsMute,
  },
  {
    name: 'alerts unmute',
    summary: 'Notify of a kind of alerts again',
    load: async () => (await import('./commands/alerts-unmute.ts')).alertsUnmute,
  },
  {
    name: 'alerts route',
    summary: 'Choose the notification targets that a kind of alerts is sent to',
    load: async () => (await import('./commands/alerts-route.ts')).alertsRoute,
  },
]
