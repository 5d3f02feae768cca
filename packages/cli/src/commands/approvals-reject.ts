import { allDecided, outcomesText } from '../decide-many.ts'
import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { decidedText } from '../run-outcome.ts'

export const approvalsReject = defineCommand({
  name: 'approvals reject',
  summary: 'Reject a request; the agent is told the reason',
  args: { id: { about: 'the approval, or several', many: true } },
  options: { reason: { value: 'TEXT', about: 'why, and what the agent should do instead' } },
  examples: ['gatehouse approvals reject appr-01jqz4xk2m8v5w9r3t6y0b7n1c --reason "wrong address"'],
  async run({ api }, { id: ids, reason }) {
    const [id, ...others] = ids
    return id !== undefined && others.length === 0
      ? api.rejectApproval({ id, reason })
      : api.decideApprovals({ ids, decision: 'reject', reason })
  },
  text: (result) => ('outcomes' in result ? outcomesText(result) : decidedText(result)),
  exitCode: (result) =>
    'outcomes' in result && !allDecided(result) ? exitCodes.failed : exitCodes.done,
})
