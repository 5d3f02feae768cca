import { createFakeApp, fakeApproval } from '@gatehouse/testkit/fake-app'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

const approval = fakeApproval(1)
const line = ['approvals', 'approve', approval.id]

test('approves what it has shown, by its digest', async () => {
  const sent: unknown[] = []
  const fake = createFakeApp()
  const { decideApproval } = fake.app
  const spied = createFakeApp({
    showApproval: async () => approval,
    decideApproval: (op, input) => {
      sent.push(input)
      fake.tell(approval)
      return decideApproval(op, input)
    },
  })
  const ran = await createCliKit(spied).gatehouse([...line, '--reason', 'as agreed'])
  expect(ran.code).toBe(0)
  expect(ran.err).toContain('Call that will run')
  expect(sent).toEqual([
    { approval_id: approval.id, decision: 'approve', digest: approval.digest, reason: 'as agreed' },
  ])
})

test('approves nothing that is not what a script has seen', async () => {
  const kit = createCliKit()
  kit.fake.tell(approval)
  const ran = await kit.gatehouse([...line, '--digest', 'sha256:other'])
  expect([ran.code, kit.fake.approvals.get(approval.id)?.status]).toEqual([1, 'pending'])
  expect(ran.err).toContain('ApprovalDigestMismatch')
})

test('asks at a terminal, and takes only a yes for one', async () => {
  const kit = createCliKit()
  kit.fake.tell(approval)
  const no = await kit.gatehouse(line, { columns: 80, answer: '' })
  expect(no.code).toBe(1)
  expect(no.err).toContain('Approve and run exactly this? [y/N]')
  expect(kit.fake.approvals.get(approval.id)?.status).toBe('pending')
  expect((await kit.gatehouse(line, { columns: 80, answer: 'y' })).code).toBe(0)
})

test('goes on without a terminal, and with --yes', async () => {
  const kit = createCliKit()
  kit.fake.tell(approval)
  expect((await kit.gatehouse(line)).code).toBe(0)
  kit.fake.tell(approval)
  expect((await kit.gatehouse([...line, '--yes'], { columns: 80, answer: 'n' })).code).toBe(0)
})

test('the card shows what will run, what was sent, and that a request is stale', async () => {
  const kit = createCliKit()
  const effective_arguments = { path: 'a.txt', recursive: false }
  const stale = 'what it touches has changed since it was asked for'
  kit.fake.tell(fakeApproval(1, { arguments: { path: 'a.txt' }, effective_arguments, stale }))
  const { out } = await kit.gatehouse(['approvals', 'show', fakeApproval(1).id])
  const next = `${stale}; it cannot be approved: reject it or let the agent ask again`
  expect(out).toContain(next)
  const list = await kit.gatehouse(['approvals', 'list'], { columns: 80 })
  expect(list.out).toContain('pending, stale')
  expect(list.out).toContain(`${fakeApproval(1).id} is stale: ${next}.`)
  expect(out).toMatch(/Arguments that will run[\s\S]*"recursive": false[\s\S]*As sent\n {2}\{\n/)
})
