import { approvalCard } from '../approval-card.ts'
import { defineCommand } from '../define.ts'

export const approvalsShow = defineCommand({
  name: 'approvals show',
  summary: 'Show one request: what would run, and which rule asks',
  args: { id: 'the approval' },
  examples: ['gatehouse approvals show appr-01jqz4xk2m8v5w9r3t6y0b7n1c'],
  run: ({ api }, { id }) => api.showApproval({ id }),
  text: approvalCard,
})
