import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'

export const auditTest = defineCommand({
  name: 'audit test',
  summary: 'Test an export target of the audit log without sending an entry',
  args: { name: 'the target, as `audit targets` shows it' },
  examples: ['gatehouse audit test archive'],
  run: ({ api }, { name }) => api.testAuditTarget({ name }),
  text: ({ name, delivered, detail }) =>
    delivered
      ? `${escapeText(name)} can be written to.`
      : `${escapeText(name)} cannot be written to: ${escapeText(detail ?? '')}`,
  exitCode: ({ delivered }) => (delivered ? exitCodes.done : exitCodes.failed),
})
