import { defineCommand } from '../define.ts'
import { writeText } from '../write-text.ts'

export const proxyRetry = defineCommand({
  name: 'proxy retry',
  summary: 'Retry a failed write; check first that it did not arrive',
  args: { id: 'the write, as `proxy writes` shows it' },
  examples: ['gatehouse proxy retry wr-01jqz4xk2m8v5w9r3t6y0b7n1c'],
  question: () => 'Send it once more? If it took place after all, it takes place twice.',
  run: ({ api }, { id }) => api.retryWrite({ id }),
  text: (write, { next }) => writeText(write, next),
})
