import { defineCommand } from '../define.ts'

export const proxySync = defineCommand({
  name: 'proxy sync',
  summary: 'Sync a service now',
  args: { name: 'the service' },
  options: { full: { about: 'read everything again' } },
  examples: ['gatehouse proxy sync mail', 'gatehouse proxy sync mail --full'],
  run: ({ api }, { name, full }) => api.syncService({ name, full }),
  text: ({ name }, { next }) =>
    `${name} is read as soon as the server gets to it: ${next('proxy status')}`,
})
