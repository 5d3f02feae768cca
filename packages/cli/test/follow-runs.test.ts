import { seeded } from '@gatehouse/testkit/installation/seeds'
import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

const approve = ['approvals', 'approve', seeded.approval]

test('says what became of the run after an approval', async () => {
  const kit = createCliKit()
  const { kit: service } = await kit.open()
  await service.app.savePolicy(service.operator(), { text: 'version: 1\nrules: []\n' })
  const url = 'https://models.example/nothing'
  const id = await service.pending('mailbot', 'network.download', { url, path: 'nothing' })
  const { code, out } = await kit.gatehouse(['approvals', 'approve', id])
  expect(code).toBe(0)
  expect(out).toContain(
    `${id} (network.download ${url} → nothing) is approved by user:the operator.`,
  )
  expect(out).toMatch(/network.download .* ran and failed: .* \(\w+\)/)
})

test('does not wait where it is told not to, nor where no server runs it', async () => {
  for (const [line, offline] of [
    [[...approve, '--wait', '0'], false],
    [approve, true],
  ] as const) {
    const kit = createCliKit()
    const { out } = await kit.gatehouse(line, { offline })
    expect(out).toContain('has not run yet')
    expect(kit.operations).not.toContain('streamApprovals')
  }
})
