import { defineCommand } from '../define.ts'

export const userTokenRevoke = defineCommand({
  name: 'user-token revoke',
  summary: 'Revoke a user token',
  args: { id: 'its id, as `user-token list` shows it' },
  examples: ['gatehouse user-token revoke ut-01jqz4xk2m8v5w9r3t6y0b7n1c'],
  question: ({ id }) => `End the user token ${id} now?`,
  run: ({ api }, { id }) => api.revokeUserToken({ id }),
  text: (token) => `User token ${token.id} is revoked.`,
})
