import { defineCommand } from '../define.ts'

export const proxyDisconnect = defineCommand({
  name: 'proxy disconnect',
  summary: 'Disconnect a service: cancels its writes, deletes replica, rollback points, secrets',
  args: { name: 'the service' },
  options: { forget: { about: 'delete its settings too' } },
  examples: ['gatehouse proxy disconnect mail', 'gatehouse proxy disconnect mail --forget --yes'],
  question: ({ name }) => `Disconnect ${name}, and cancel all that waits for it?`,
  run: ({ api }, { name, forget }) => api.disconnectService({ name, forget }),
  text: ({ name }) => `${name} is disconnected. At the service itself nothing was changed.`,
})
