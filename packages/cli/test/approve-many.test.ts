import { createFakeApp, fakeApproval, fakeGrant } from '@gatehouse/testkit/fake-app'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

const [one, two] = [fakeApproval(1), fakeApproval(2)]

test('approves several after one question, each by the digest on its card', async () => {
  const sent: unknown[] = []
  const fake = createFakeApp({
    showApproval: async (_op, { approval_id }) => (approval_id === one.id ? one : two),
    decideApprovals: async (_op, input) => {
      sent.push(input)
      return input.ids.map((id) => ({ id, outcome: 'decided', approval: one }))
    },
  })
  const ran = await createCliKit(fake).gatehouse(
    ['approvals', 'approve', one.id, two.id, '--reason', 'ok'],
    { columns: 80, answer: 'y' },
  )
  expect(ran.code).toBe(0)
  expect(ran.err).toContain('Approve and run exactly these 2? [y/N]')
  expect(ran.err).toContain(two.digest)
  const digests = { [one.id]: one.digest, [two.id]: two.digest }
  expect(sent).toEqual([{ ids: [one.id, two.id], decision: 'approve', digests, reason: 'ok' }])
})

test('rejects several, and fails where one of them was not waiting', async () => {
  const kit = createCliKit()
  kit.fake.tell(one)
  kit.fake.tell({ ...two, status: 'approved' })
  const ran = await kit.gatehouse(['approvals', 'reject', one.id, two.id, 'appr-nothing'])
  expect(ran.code).toBe(1)
  expect(ran.out).toBe(
    [
      `${one.id} (email.send to ana@example.com) is rejected by user:the operator.`,
      `${two.id} was not waiting any more: approved.`,
      'appr-nothing is not there.',
      '',
    ].join('\n'),
  )
})

test('remembers an approval for a time and a number of calls', async () => {
  const sent: unknown[] = []
  const fake = createFakeApp({
    showApproval: async () => one,
    decideApproval: async (_op, input) => {
      sent.push(input.remember ?? input.arguments)
      return { kind: 'decided', approval: one }
    },
  })
  const approve = (...options: string[]) =>
    createCliKit(fake).gatehouse(['approvals', 'approve', one.id, ...options])
  expect((await approve('--remember', '24h')).code).toBe(0)
  expect((await approve('--remember', '30m', '--for', 'same_capability', '--uses', '5')).code).toBe(
    0,
  )
  expect((await approve('--arguments', '{"to":"ben@example.com"}')).code).toBe(0)
  expect(sent).toEqual([
    { ttl_seconds: 86_400, match: 'same_arguments' },
    { ttl_seconds: 1800, match: 'same_capability', uses: 5 },
    { to: 'ben@example.com' },
  ])
})

test.each([
  [[one.id, '--remember', 'long'], 'at most 24h, not "long"'],
  [[one.id, '--remember', '25h'], 'at most 24h'],
  [[one.id, '--uses', '5'], 'add --remember'],
  [[one.id, '--arguments', '[1]'], 'is a JSON object'],
  [[one.id, two.id, '--remember', '1h'], 'one approval at a time'],
  [[], 'ID is missing'],
])('explains what does not fit in %j, and decides nothing', async (words, why) => {
  const kit = createCliKit()
  kit.fake.tell(one)
  const ran = await kit.gatehouse(['approvals', 'approve', ...words])
  expect([ran.code, kit.fake.approvals.get(one.id)?.status]).toEqual([2, 'pending'])
  expect(ran.err).toContain(why)
})

test('lists what is remembered, and ends it', async () => {
  const kit = createCliKit()
  const listed = await kit.gatehouse(['grants', 'list'], { columns: 200 })
  expect(listed.out).toContain('email.send, any arguments')
  expect(listed.out).toContain('2 of 5')
  const ended = await kit.gatehouse(['grants', 'revoke', fakeGrant.id])
  expect(ended.out).toBe(`${fakeGrant.id} is revoked.\n`)
})

test('shows which request ran where a person changed one', async () => {
  const kit = createCliKit()
  const edit = { original: one.id, request: two.id, decided: {}, effective: {} }
  kit.fake.tell({ ...one, status: 'approved', edit })
  kit.fake.tell({ ...two, status: 'approved', edit })
  const original = await kit.gatehouse(['approvals', 'show', one.id])
  expect(original.out).toContain(`what ran is ${two.id}`)
  const request = await kit.gatehouse(['approvals', 'show', two.id])
  expect(request.out).toMatch(new RegExp(`In place of +${one.id}`))
})
