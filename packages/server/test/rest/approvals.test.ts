import { GatehouseError } from '@gatehouse/contract'
import { fakeApproval, fakeGrant } from '@gatehouse/testkit/fake-app'
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

test('without a limit all that are pending come', async () => {
  const kit = createRestKit()
  for (let n = 1; n <= 1_146; n += 1) kit.fake.tell(fakeApproval(n))
  const list = async (query: string) =>
    ((await kit.call('GET', `/api/approvals${query}`, { role })).body.approvals as []).length
  expect(await list('')).toBe(1_146)
  expect(await list('?limit=10')).toBe(10)
  expect(await list('?status=all')).toBe(100)
})

test('a stale request is not approved, and the answer shows the record', async () => {
  const stale = 'what it touches has changed since it was asked for'
  const kit = createRestKit({
    decideApproval: async (_op, { approval_id }) => {
      throw new GatehouseError('ApprovalStale', { approval_id, detail: stale })
    },
  })
  kit.fake.tell(fakeApproval(1, { stale }))
  const answer = await kit.call('POST', `/api/approvals/${approval.id}/approve`, { role, body: {} })
  expect(answer.status).toBe(409)
  expect(answer.body).toMatchObject({
    code: 'ApprovalStale',
    detail: `The request ${approval.id} is stale: ${stale}`,
    current: { status: 'pending', stale },
  })
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

test('remembers an approval, and passes on changed arguments', async () => {
  const sent: unknown[] = []
  const kit = createRestKit({
    decideApproval: async (_op, input) => {
      sent.push(input)
      return { kind: 'decided', approval }
    },
  })
  const remember = { ttl_seconds: 86_400, match: 'same_capability', uses: 5 }
  for (const body of [{ remember }, { arguments: { to: 'ben@example.com' } }])
    expect(
      (await kit.call('POST', `/api/approvals/${approval.id}/approve`, { role, body })).status,
    ).toBe(200)
  const decision = { approval_id: approval.id, decision: 'approve' }
  expect(sent).toEqual([
    { ...decision, remember },
    { ...decision, arguments: { to: 'ben@example.com' } },
  ])
})

test.each([
  { ttl_seconds: 86_401, match: 'same_arguments' },
  { ttl_seconds: 0, match: 'same_arguments' },
  { ttl_seconds: 60, match: 'everything' },
  { ttl_seconds: 60 },
  { ttl_seconds: 60, match: 'same_arguments', uses: 0 },
  { ttl_seconds: 60, match: 'same_arguments', agent: '*' },
])('refuses to remember %j', async (remember) => {
  const kit = createRestKit()
  kit.fake.tell(approval)
  const path = `/api/approvals/${approval.id}/approve`
  expect((await kit.call('POST', path, { role, body: { remember } })).status).toBe(400)
  expect(kit.fake.approvals.get(approval.id)?.status).toBe('pending')
})

test('says why a critical request is not remembered', async () => {
  const kit = createRestKit({
    decideApproval: () => {
      throw new GatehouseError('RememberRefused', { detail: 'email.send is critical' })
    },
  })
  const body = { remember: { ttl_seconds: 60, match: 'same_arguments' } }
  const path = `/api/approvals/${approval.id}/approve`
  const answer = await kit.call('POST', path, { role, body })
  expect(answer).toMatchObject({
    status: 400,
    body: {
      code: 'RememberRefused',
      detail: 'This approval cannot be remembered: email.send is critical',
    },
  })
})

test('decides on many at once, and says what became of each', async () => {
  const kit = createRestKit()
  kit.fake.tell(approval)
  kit.fake.tell(fakeApproval(2, { status: 'rejected' }))
  const ids = [fakeApproval(2).id, 'appr-nothing', approval.id]
  const body = { ids, decision: 'approve', reason: 'all fine' }
  const answer = await kit.call('POST', '/api/approvals/decide', { role, body })
  expect(answer).toMatchObject({
    status: 200,
    body: {
      outcomes: [
        { id: ids[0], outcome: 'not_pending', approval: { status: 'rejected' } },
        { id: ids[1], outcome: 'not_found' },
        {
          id: ids[2],
          outcome: 'decided',
          approval: { status: 'approved', decision_reason: 'all fine' },
        },
      ],
    },
  })
})

test.each([
  { ids: [], decision: 'approve' },
  { ids: Array.from({ length: 101 }, (_, n) => `appr-${n}`), decision: 'approve' },
  { ids: ['appr-1'], decision: 'maybe' },
])('takes 1 to 100 ids and a decision', async (body) => {
  const answer = await createRestKit().call('POST', '/api/approvals/decide', { role, body })
  expect(answer.status).toBe(400)
})

test('lists what is remembered, and ends it', async () => {
  const kit = createRestKit()
  const listed = await kit.call('GET', '/api/grants?agent=mailbot', { role: 'viewer' })
  expect(listed.body).toEqual({ grants: [fakeGrant], total: 1 })
  const path = `/api/grants/${fakeGrant.id}`
  expect((await kit.call('DELETE', path, { role: 'viewer' })).status).toBe(403)
  const ended = await kit.call('DELETE', path, { role })
  expect(ended.body).toMatchObject({ status: 'revoked', revoked_by: 'user:the approver' })
})
