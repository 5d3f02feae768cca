import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'

export const proxyTest = defineCommand({
  name: 'proxy test',
  summary: 'Test everything a service needs, and name what fails',
  args: { name: 'the service' },
  examples: ['gatehouse proxy test mail'],
  run: ({ api }, { name }) => api.testService({ name }),
  text: ({ checks }) =>
    checks
      .map(({ name, ok, detail, fix }) =>
        ok
          ? `ok    ${name}: ${escapeText(detail)}`
          : `wrong ${name}: ${escapeText(detail)}\n      ${escapeText(fix ?? '')}`,
      )
      .join('\n'),
  exitCode: ({ ok }) => (ok ? exitCodes.done : exitCodes.failed),
})
