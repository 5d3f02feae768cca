import type { Integrity } from '@gatehouse/contract'
import { createFakeApp } from '@gatehouse/testkit/fake-app'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

const found: Integrity = {
  integrity: 'failed',
  kind: 'modified',
  first_bad_id: 'aud-00000000000000000000000007',
  first_bad_seq: 7,
  detail: 'its hash is another',
  verified_through: 6,
  verified_at: '2026-03-01T12:00:00.000Z',
}

const createDamaged = () => {
  let now: Integrity = found
  const reasons: string[] = []
  const kit = createCliKit(
    createFakeApp({
      verifyAudit: async () => now,
      async acknowledgeAudit(_op, { reason }) {
        reasons.push(reason)
        const { verified_at } = found
        now = { integrity: 'verified', verified_through: 9, verified_at }
        return now
      },
    }),
  )
  return { kit, reasons }
}
const line = ['audit', 'acknowledge', '--reason', 'a disk lost data']

test('a failed verification names the command that accepts it', async () => {
  const { kit } = createDamaged()
  const failed = await kit.gatehouse(['audit', 'verify'])
  expect(failed.code).toBe(1)
  expect(failed.out).toContain('gatehouse audit acknowledge --reason TEXT')
  const json = await kit.gatehouse(['audit', 'verify', '--json'])
  expect(JSON.parse(json.out)).toMatchObject({
    ...found,
    next_step: expect.stringContaining('gatehouse audit acknowledge'),
  })
  await kit.gatehouse([...line, '--yes'])
  expect((await kit.gatehouse(['audit', 'verify'])).out).not.toContain('acknowledge')
})

test('shows the finding, asks, and sends the reason', async () => {
  const { kit, reasons } = createDamaged()
  const no = await kit.gatehouse(line, { columns: 80, answer: 'n' })
  expect([no.code, reasons]).toEqual([1, []])
  expect(no.err).toContain('aud-00000000000000000000000007')
  const yes = await kit.gatehouse(line, { columns: 80, answer: 'y' })
  expect([yes.code, reasons]).toEqual([0, ['a disk lost data']])
})

test('does nothing without a reason, or without a terminal and --yes', async () => {
  const { kit, reasons } = createDamaged()
  for (const wrong of [
    line,
    ['audit', 'acknowledge', '--yes'],
    [...line.slice(0, 3), ' ', '--yes'],
  ])
    expect((await kit.gatehouse(wrong)).code).toBe(2)
  expect(reasons).toEqual([])
})
