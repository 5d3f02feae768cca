import { seeded } from '@gatehouse/testkit/installation/seeds'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

const id = seeded.approval
const line = ['approvals', 'approve', id]

test('approves what it has shown, by its digest', async () => {
  const kit = createCliKit()
  const { digest } = await kit.approval(id)
  const ran = await kit.gatehouse([...line, '--reason', 'as agreed'])
  expect(ran.code).toBe(0)
  expect(ran.err).toContain('Call that will run')
  expect(kit.sentTo('approveApproval')).toEqual([{ digest, reason: 'as agreed' }])
})

test('approves nothing that is not what a script has seen', async () => {
  const kit = createCliKit()
  const ran = await kit.gatehouse([...line, '--digest', 'sha256:other'])
  expect([ran.code, (await kit.approval(id)).status]).toEqual([1, 'pending'])
  expect(ran.err).toContain('ApprovalDigestMismatch')
})

test('asks at a terminal, and takes only a yes for one', async () => {
  const kit = createCliKit()
  const no = await kit.gatehouse(line, { columns: 80, answer: '' })
  expect(no.code).toBe(1)
  expect(no.err).toContain('Approve and run exactly this? [y/N]')
  expect((await kit.approval(id)).status).toBe('pending')
  expect((await kit.gatehouse(line, { columns: 80, answer: 'y' })).code).toBe(0)
})

test('goes on without a terminal, and with --yes', async () => {
  const kit = createCliKit()
  expect((await kit.gatehouse(line)).code).toBe(0)
  const second = ['approvals', 'approve', await kit.ask('Second'), '--yes']
  expect((await kit.gatehouse(second, { columns: 80, answer: 'n' })).code).toBe(0)
})

test('the card shows what will run, what was sent, and that a request is stale', async () => {
  const kit = createCliKit()
  const asked = await kit.ask('Notes', { attachments: ['notes.txt'] })
  const { kit: service } = await kit.open()
  await service.run('mailbot', 'filesystem.write', { path: 'notes.txt', content: 'others' })
  service.clock.move(1_000)
  const { stale } = await kit.approval(asked)
  expect(stale).toContain('has changed')
  const { out } = await kit.gatehouse(['approvals', 'show', asked])
  const next = `${stale}; it cannot be approved: reject it or let the agent ask again`
  expect(out).toContain(next)
  const list = await kit.gatehouse(['approvals', 'list'], { columns: 80 })
  expect(list.out).toContain('pending, stale')
  expect(list.out).toContain(`${asked} is stale: ${next}.`)
  expect(out).toMatch(/Arguments that will run[\s\S]*"cc": \[\][\s\S]*As sent\n {2}\{\n/)
})
