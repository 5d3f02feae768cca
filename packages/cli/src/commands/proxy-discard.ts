import { defineCommand } from '../define.ts'

export const proxyDiscard = defineCommand({
  name: 'proxy discard',
  summary: 'Let a write that failed go',
  args: { id: 'the write, as `proxy writes` shows it' },
  examples: ['gatehouse proxy discard wr-01jqz4xk2m8v5w9r3t6y0b7n1c'],
  run: ({ api }, { id }) => api.discardWrite({ id }),
  text: ({ id }) => `${id} is let go; it stays in the log.`,
})
