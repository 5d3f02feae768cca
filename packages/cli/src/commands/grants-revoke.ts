import { defineCommand } from '../define.ts'

export const grantsRevoke = defineCommand({
  name: 'grants revoke',
  summary: 'Revoke a standing grant; the next call asks again',
  args: { id: 'the grant' },
  examples: ['gatehouse grants revoke grant-01jqz4xk2m8v5w9r3t6y0b7n1c'],
  run: ({ api }, { id }) => api.revokeGrant({ id }),
  text: ({ id, status }) => `${id} is ${status}.`,
})
