import { defineCommand } from '../define.ts'

export const proxyDiscard = defineCommand({
  name: 'proxy discard',
  summary: 'Discard a write that failed',
  args: { id: 'the write, as `proxy writes` shows it' },
  examples: ['gatehouse proxy discard wr-01jqz4xk2m8v5w9r3t6y0b7n1c'],
  question: ({ id }) => `Discard ${id}? It cannot be sent again.`,
  run: ({ api }, { id }) => api.discardWrite({ id }),
  text: ({ id }) => `${id} is discarded; the audit log keeps its record.`,
})
