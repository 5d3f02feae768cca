import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { integrityText } from '../integrity-text.ts'

export const auditReindex = defineCommand({
  name: 'audit reindex',
  summary: 'Rebuild the index of the audit log from its files',
  options: {},
  examples: ['gatehouse audit reindex'],
  run: ({ api }) => api.reindexAudit(),
  text: integrityText,
  exitCode: ({ integrity }) => (integrity === 'verified' ? exitCodes.done : exitCodes.failed),
})
