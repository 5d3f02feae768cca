import { seeded } from '@gatehouse/testkit/installation/seeds'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

const one = seeded.approval

test('approves several after one question, each by the digest on its card', async () => {
  const kit = createCliKit()
  const two = await kit.ask('Two')
  const digests = {
    [one]: (await kit.approval(one)).digest,
    [two]: (await kit.approval(two)).digest,
  }
  const ran = await kit.gatehouse(['approvals', 'approve', one, two, '--reason', 'ok'], {
    columns: 80,
    answer: 'y',
  })
  expect(ran.code).toBe(0)
  expect(ran.err).toContain('Approve and run exactly these 2? [y/N]')
  expect(ran.err).toContain(digests[two])
  expect(kit.sentTo('decideApprovals')).toEqual([
    { ids: [one, two], decision: 'approve', digests, reason: 'ok' },
  ])
})

test('rejects several, and fails where one of them was not waiting', async () => {
  const kit = createCliKit()
  const two = await kit.ask('Two')
  await (await kit.open()).kit.decide(two, 'approve')
  const ran = await kit.gatehouse(['approvals', 'reject', one, two, 'appr-nothing'])
  expect(ran.code).toBe(1)
  expect(ran.out).toBe(
    [
      `${one} (email.send to ana@example.com) is rejected by user:the operator.`,
      `${two} was not waiting any more: approved.`,
      'appr-nothing is not there.',
      '',
    ].join('\n'),
  )
})

test('remembers an approval for a time and a number of calls', async () => {
  const kit = createCliKit()
  const [two, three] = [await kit.ask('Two'), await kit.ask('Three')]
  const mail = { to: ['ben@example.com'], subject: 'Three', body: 'Hi Ben' }
  const approve = async (id: string, ...options: string[]) =>
    (await kit.gatehouse(['approvals', 'approve', id, ...options])).code
  expect(await approve(three, '--arguments', JSON.stringify(mail))).toBe(0)
  expect(await approve(one, '--remember', '24h')).toBe(0)
  expect(await approve(two, '--remember', '30m', '--for', 'same_capability', '--uses', '5')).toBe(0)
  expect(kit.sentTo('approveApproval')).toMatchObject([
    { arguments: mail },
    { remember: { ttl_seconds: 86_400, match: 'same_arguments' } },
    { remember: { ttl_seconds: 1800, match: 'same_capability', uses: 5 } },
  ])
})

test.each([
  [[one, '--remember', 'long'], 'at most 24h, not "long"'],
  [[one, '--remember', '25h'], 'at most 24h'],
  [[one, '--uses', '5'], 'add --remember'],
  [[one, '--arguments', '[1]'], 'is a JSON object'],
  [[one, 'appr-two', '--remember', '1h'], 'one approval at a time'],
  [[], 'ID is missing'],
])('explains what does not fit in %j, and decides nothing', async (words, why) => {
  const kit = createCliKit()
  const ran = await kit.gatehouse(['approvals', 'approve', ...words])
  expect([ran.code, (await kit.approval(one)).status]).toEqual([2, 'pending'])
  expect(ran.err).toContain(why)
})

test('lists what is remembered, and ends it', async () => {
  const kit = createCliKit()
  const listed = await kit.gatehouse(['grants', 'list'], { columns: 200 })
  expect(listed.out).toContain('filesystem.delete, any arguments')
  expect(listed.out).toContain('2 of 5')
  const ended = await kit.gatehouse(['grants', 'revoke', seeded.grant])
  expect(ended.out).toBe(`${seeded.grant} is revoked.\n`)
})

test('shows which request ran where a person changed one', async () => {
  const kit = createCliKit()
  const mail = JSON.stringify({ to: ['ben@example.com'], subject: 'Hello', body: 'Hi Ben' })
  await kit.gatehouse(['approvals', 'approve', one, '--arguments', mail])
  const { edit } = await kit.approval(one)
  const original = await kit.gatehouse(['approvals', 'show', one])
  expect(original.out).toContain(`what ran is ${edit?.request}`)
  const request = await kit.gatehouse(['approvals', 'show', edit?.request ?? ''])
  expect(request.out).toMatch(new RegExp(`In place of +${one}`))
})
