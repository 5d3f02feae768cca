import { fakeApproval } from '@gatehouse/testkit/fake-app'
import { expect, test } from 'vitest'
import { createRestKit } from './kit.ts'

const role = 'approver' as const
const approval = fakeApproval(1)

test('lists what waits, and what was decided when asked for', async () => {
  const kit = createRestKit()
  kit.fake.tell(approval)
  kit.fake.tell(fakeApproval(2, { status: 'rejected' }))
  const ids = async (query: string) => {
    const { body } = await kit.call('GET', `/api/approvals${query}`, { role })
    return [body.total, (body.approvals as { id: string }[]).map(({ id }) => id)]
  }
  expect(await ids('')).toEqual([1, [approval.id]])
  expect(await ids('?status=rejected')).toEqual([1, [fakeApproval(2).id]])
  expect(await ids('?status=all&limit=1')).toEqual([2, [approval.id]])
})

test('decides once; who comes second is shown what the first decided', async () => {
  const kit = createRestKit()
  kit.fake.tell(approval)
  const path = `/api/approvals/${approval.id}`
  const first = await kit.call('POST', `${path}/approve`, {
    role,
    body: { digest: approval.digest, reason: 'fine' },
  })
  expect(first.body).toMatchObject({ status: 'approved', decided_by: 'user:the approver' })
  const second = await kit.call('POST', `${path}/reject`, { role, body: { reason: 'no' } })
  expect(second.status).toBe(409)
  expect(second.body).toMatchObject({
    code: 'ApprovalNotPending',
    detail: `Approval ${approval.id} is already approved.`,
    current: { status: 'approved', decision_reason: 'fine' },
  })
})

test('runs nothing under a digest that nobody was shown, and shows the record instead', async () => {
  const kit = createRestKit()
  kit.fake.tell(approval)
  const answer = await kit.call('POST', `/api/approvals/${approval.id}/approve`, {
    role,
    body: { digest: 'sha256:00' },
  })
  expect(answer.status).toBe(409)
  expect(answer.body).toMatchObject({
    code: 'ApprovalDigestMismatch',
    current: { status: 'pending', digest: approval.digest },
  })
  expect(kit.fake.approvals.get(approval.id)?.status).toBe('pending')
})
