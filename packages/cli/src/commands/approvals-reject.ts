import { defineCommand } from '../define.ts'

export const approvalsReject = defineCommand({
  name: 'approvals reject',
  summary: 'Refuse a request; the agent reads the reason',
  args: { id: 'the approval' },
  options: { reason: { value: 'TEXT', about: 'why, and what the agent should do instead' } },
  examples: ['gatehouse approvals reject appr-01jqz4xk2m8v5w9r3t6y0b7n1c --reason "wrong address"'],
  run: ({ api }, { id, reason }) =>
    api.rejectApproval({ id, ...(reason === undefined ? {} : { reason }) }),
  text: (approval) => `${approval.id} is rejected.`,
})
