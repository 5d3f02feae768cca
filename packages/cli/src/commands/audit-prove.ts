import { defineCommand } from '../define.ts'

export const auditProve = defineCommand({
  name: 'audit prove',
  summary: 'Print a proof that one entry is in the log',
  args: { id: 'the entry' },
  examples: ['gatehouse audit prove aud-01jqz4xk2m8v5w9r3t6y0b7n1c > proof.json'],
  run: ({ api }, { id }) => api.proveAuditEntry({ id }),
  text: (proof) => JSON.stringify(proof, null, 2),
})
