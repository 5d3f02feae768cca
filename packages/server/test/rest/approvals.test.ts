import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seeded } from '@gatehouse/testkit/installation/seeds'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineCapability } from '../../src/capabilities/define.ts'
import { openRestKit, type RestKit, useRestKit } from './kit.ts'

const role = 'approver' as const
const id = seeded.approval
const shared = useRestKit()

const show = async (kit: RestKit, approval: string) =>
  (await kit.call('GET', `/api/approvals/${approval}`, { role })).body

test('lists what waits, and what was decided when asked for', async () => {
  await using kit = await openRestKit()
  const rejected = await kit.ask('Another')
  await kit.kit.decide(rejected, 'reject')
  const ids = async (query: string) => {
    const { body } = await kit.call('GET', `/api/approvals${query}`, { role })
    return [body.total, (body.approvals as { id: string }[]).map(({ id }) => id)]
  }
  expect(await ids('')).toEqual([1, [id]])
  expect(await ids('?status=rejected')).toEqual([1, [rejected]])
  expect(await ids('?status=all&limit=1')).toEqual([3, [rejected]])
  expect(await ids('?status=decided')).toEqual([2, [rejected, expect.any(String)]])
  expect(await ids('?status=decided&capability=email.send')).toEqual([1, [rejected]])
  expect(await ids('?status=decided&capability=email.draft')).toEqual([0, []])
})

test('without a limit all that are pending come', async () => {
  await using kit = await openRestKit()
  const one = await kit.kit.storage.approvals.find(id)
  if (!one) throw new Error('nothing waits')
  // More than one agent may have.
  await kit.kit.storage.transaction(async (tx) => {
    for (let n = 2; n <= 1_146; n += 1)
      await tx.approvals.insert({ ...one, id: `appr-${n}`, call_key: `${n}` })
  })
  const list = async (query: string) =>
    ((await kit.call('GET', `/api/approvals${query}`, { role })).body.approvals as []).length
  expect(await list('')).toBe(1_146)
  expect(await list('?limit=10')).toBe(10)
  expect(await list('?status=all')).toBe(100)
})

test('a stale request is not approved, and the answer shows the record', async () => {
  const stale = 'what it touches has changed since it was asked for'
  await using kit = await openRestKit()
  await kit.kit.run('mailbot', 'filesystem.write', { path: 'stale.txt', content: 'x' })
  await kit.call('DELETE', `/api/grants/${seeded.grant}`, { role })
  const stale_id = await kit.kit.pending('mailbot', 'filesystem.delete', { path: 'stale.txt' })
  writeFileSync(join(kit.kit.workspace('mailbot'), 'stale.txt'), 'something else')
  const answer = await kit.call('POST', `/api/approvals/${stale_id}/approve`, { role, body: {} })
  expect(answer.status).toBe(409)
  expect(answer.body).toMatchObject({
    code: 'ApprovalStale',
    detail: `The request ${stale_id} is stale: ${stale}`,
    current: { status: 'pending', stale },
  })
})

test('decides once; who comes second is shown what the first decided', async () => {
  await using kit = await openRestKit()
  const path = `/api/approvals/${id}`
  const first = await kit.call('POST', `${path}/approve`, {
    role,
    body: { digest: (await show(kit, id))['digest'], reason: 'fine' },
  })
  expect(first.body).toMatchObject({ status: 'approved', decided_by: 'user:the approver' })
  const second = await kit.call('POST', `${path}/reject`, { role, body: { reason: 'no' } })
  expect(second.status).toBe(409)
  expect(second.body).toMatchObject({
    code: 'ApprovalNotPending',
    detail: `Approval ${id} is already approved.`,
    current: { status: 'approved', decision_reason: 'fine' },
  })
})

test('runs nothing under a digest that nobody was shown, and shows the record instead', async () => {
  const kit = shared()
  const { digest } = await show(kit, id)
  const answer = await kit.call('POST', `/api/approvals/${id}/approve`, {
    role,
    body: { digest: 'sha256:00' },
  })
  expect(answer.status).toBe(409)
  expect(answer.body).toMatchObject({
    code: 'ApprovalDigestMismatch',
    current: { status: 'pending', digest },
  })
  expect(await show(kit, id)).toMatchObject({ status: 'pending' })
})

test('remembers an approval, and runs changed arguments', async () => {
  await using kit = await openRestKit()
  const approve = (approval: string, body: object) =>
    kit.call('POST', `/api/approvals/${approval}/approve`, { role, body })
  const remember = { ttl_seconds: 86_400, match: 'same_capability', uses: 5 }
  const another = await kit.ask('Another')
  expect((await approve(id, { remember })).status).toBe(200)
  const { body } = await kit.call('GET', '/api/grants', { role })
  expect(body).toMatchObject({
    grants: expect.arrayContaining([
      expect.objectContaining({ approval_id: id, match: 'same_capability', uses: 5, used: 0 }),
    ]),
  })
  const changed = { to: ['ben@example.com'], subject: 'Hello', body: 'Hi Ben' }
  expect((await approve(another, { arguments: changed })).status).toBe(200)
  expect(await show(kit, another)).toMatchObject({ edit: { original: another, decided: changed } })
})

test.each([
  { ttl_seconds: 86_401, match: 'same_arguments' },
  { ttl_seconds: 0, match: 'same_arguments' },
  { ttl_seconds: 60, match: 'everything' },
  { ttl_seconds: 60 },
  { ttl_seconds: 60, match: 'same_arguments', uses: 0 },
  { ttl_seconds: 60, match: 'same_arguments', agent: '*' },
])('refuses to remember %j', async (remember) => {
  const kit = shared()
  const path = `/api/approvals/${id}/approve`
  expect((await kit.call('POST', path, { role, body: { remember } })).status).toBe(400)
  expect(await show(kit, id)).toMatchObject({ status: 'pending' })
})

const critical = defineCapability({
  name: 'test.critical',
  title: 'Test',
  version: '1.0',
  purpose: 'Does what nobody can take back.',
  when_to_use: 'In tests.',
  inputs: z.strictObject({}),
  outputs: z.object({}),
  tier: 'approval_required',
  effect: 'immediate',
  critical: true,
  errors: [],
  run: async () => ({}),
})

test('says why a critical request is not remembered', async () => {
  await using kit = await openRestKit({ capabilities: [critical] })
  const asked = await kit.kit.pending('mailbot', 'test.critical', {})
  const { digest } = await show(kit, asked)
  const body = { digest, remember: { ttl_seconds: 60, match: 'same_arguments' } }
  const path = `/api/approvals/${asked}/approve`
  const answer = await kit.call('POST', path, { role, body })
  expect(answer).toMatchObject({
    status: 400,
    body: {
      code: 'RememberRefused',
      detail: expect.stringMatching(/^This approval cannot be remembered: .*critical/),
    },
  })
})

test('decides on many at once, and says what became of each', async () => {
  await using kit = await openRestKit()
  const rejected = await kit.ask('Another')
  await kit.kit.decide(rejected, 'reject')
  const ids = [rejected, 'appr-nothing', id]
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
  const answer = await shared().call('POST', '/api/approvals/decide', { role, body })
  expect(answer.status).toBe(400)
})

test('lists what is remembered, and ends it', async () => {
  await using kit = await openRestKit()
  const listed = await kit.call('GET', '/api/grants?agent=mailbot', { role: 'viewer' })
  expect(listed.body).toMatchObject({
    grants: [
      {
        id: seeded.grant,
        agent: 'mailbot',
        capability: 'filesystem.delete',
        match: 'same_capability',
        status: 'active',
        uses: 5,
        used: 2,
      },
    ],
    total: 1,
  })
  const path = `/api/grants/${seeded.grant}`
  expect((await kit.call('DELETE', path, { role: 'viewer' })).status).toBe(403)
  const ended = await kit.call('DELETE', path, { role })
  expect(ended.body).toMatchObject({ status: 'revoked', revoked_by: 'user:the approver' })
})
