import { expect, test } from 'vitest'
import { forgeEntry } from './forge-entry.ts'
import { createCliKit } from './kit.ts'

const createDamaged = async () => {
  const kit = createCliKit()
  await forgeEntry(kit)
  return kit
}
const line = ['audit', 'acknowledge', '--reason', 'a disk lost data']

test('a failed verification names the command that accepts it', async () => {
  const kit = await createDamaged()
  const failed = await kit.gatehouse(['audit', 'verify'])
  expect(failed.code).toBe(1)
  expect(failed.out).toContain('gatehouse audit acknowledge --reason TEXT')
  const json = await kit.gatehouse(['audit', 'verify', '--json'])
  expect(JSON.parse(json.out)).toMatchObject({
    integrity: 'failed',
    kind: 'modified',
    next_step: expect.stringContaining('gatehouse audit acknowledge'),
  })
  await kit.gatehouse([...line, '--yes'])
  expect((await kit.gatehouse(['audit', 'verify'])).out).not.toContain('gatehouse')
})

test('shows the finding, asks, and sends the reason', async () => {
  const kit = await createDamaged()
  const no = await kit.gatehouse(line, { columns: 80, answer: 'n' })
  expect([no.code, kit.sentTo('acknowledgeAudit')]).toEqual([1, []])
  expect(no.err).toContain('aud-0')
  const yes = await kit.gatehouse(line, { columns: 80, answer: 'y' })
  expect([yes.code, kit.sentTo('acknowledgeAudit')]).toEqual([0, [{ reason: 'a disk lost data' }]])
})

test('does nothing without a reason, or without a terminal and --yes', async () => {
  const kit = await createDamaged()
  for (const wrong of [
    line,
    ['audit', 'acknowledge', '--yes'],
    [...line.slice(0, 3), ' ', '--yes'],
  ])
    expect((await kit.gatehouse(wrong)).code).toBe(2)
  expect(kit.sentTo('acknowledgeAudit')).toEqual([])
})
