import { approvalCard } from '../approval-card.ts'
import { defineCommand } from '../define.ts'

export const approvalsApprove = defineCommand({
  name: 'approvals approve',
  summary: 'Show what will run, and let it run',
  args: { id: 'the approval' },
  options: {
    reason: { value: 'TEXT', about: 'why, for the log' },
    digest: { value: 'DIGEST', about: 'approve only what has this digest, seen before' },
  },
  examples: [
    'gatehouse approvals approve appr-01jqz4xk2m8v5w9r3t6y0b7n1c',
    'gatehouse approvals approve appr-01jqz4xk2m8v5w9r3t6y0b7n1c --yes --reason "as agreed"',
  ],
  async run({ api, note, confirm, json }, { id, reason, digest }) {
    const shown = await api.showApproval({ id })
    if (!json) await note(`${approvalCard(shown)}\n`)
    if (shown.status === 'pending') await confirm('Approve and run exactly this?')
    // What is sent is the digest of what was shown: anything else that stands there now is a conflict.
    return api.approveApproval({
      id,
      digest: digest ?? shown.digest,
      ...(reason === undefined ? {} : { reason }),
    })
  },
  text: (approval) => `${approval.id} is approved; execution: ${approval.execution.state}.`,
})
