import { createFakeApp, fakeApproval } from '@gatehouse/testkit/fake-app'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

const approval = fakeApproval(1)
const approve = ['approvals', 'approve', approval.id]

test('says what became of the run after an approval', async () => {
  const fake = createFakeApp()
  const { decideApproval } = fake.app
  fake.app.decideApproval = async (op, input) => {
    const decided = await decideApproval(op, { ...input, decision: 'reject' })
    const approved = { ...decided.approval, status: 'approved' } as const
    fake.tell(approved)
    const failed: typeof decided.approval.execution = {
      state: 'failed',
      result: {
        success: false,
        error: { type: 'ServiceRefused', message: 'No such mailbox.', recovery: [] },
      },
    }
    setTimeout(() => fake.tell({ ...approved, execution: failed }), 1)
    return { kind: 'decided', approval: approved }
  }
  fake.tell(approval)
  const { code, out } = await createCliKit(fake).gatehouse(approve)
  expect(code).toBe(0)
  expect(out).toContain(
    `${approval.id} (email.send to ana@example.com) is approved by user:the operator.`,
  )
  expect(out).toContain('to ana@example.com ran and failed: No such mailbox. (ServiceRefused)')
})

test('does not wait where it is told not to, nor where no server runs it', async () => {
  for (const [line, offline] of [
    [[...approve, '--wait', '0'], false],
    [approve, true],
  ] as const) {
    const kit = createCliKit()
    kit.fake.tell(approval)
    const { out } = await kit.gatehouse(line, { offline })
    expect(out).toContain('has not run yet')
    expect(kit.operations).not.toContain('streamApprovals')
  }
})
