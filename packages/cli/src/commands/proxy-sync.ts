import { defineCommand } from '../define.ts'

export const proxySync = defineCommand({
  name: 'proxy sync',
  summary: 'Read now what changed at a service',
  args: { name: 'the service' },
  options: { full: { about: 'read everything anew' } },
  examples: ['gatehouse proxy sync mail', 'gatehouse proxy sync mail --full'],
  run: ({ api }, { name, full }) => api.syncService({ name, full }),
  text: ({ name }) => `${name} is read as soon as the server gets to it: gatehouse proxy status`,
})
