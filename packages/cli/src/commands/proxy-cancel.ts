import { defineCommand } from '../define.ts'
import { writeText } from '../write-text.ts'

export const proxyCancel = defineCommand({
  name: 'proxy cancel',
  summary: 'Cancel a write before it runs',
  args: { id: 'the write, as `proxy writes` shows it' },
  examples: ['gatehouse proxy cancel wr-01jqz4xk2m8v5w9r3t6y0b7n1c'],
  run: ({ api }, { id }) => api.cancelWrite({ id }),
  text: (write, { next }) => writeText(write, next),
})
