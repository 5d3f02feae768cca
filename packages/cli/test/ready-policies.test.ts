import { expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

const fail = (name: string): never => {
  throw new Error(`no ready policy ${name}`)
}

test.each(['careful', 'trusted', 'read-only'])(
  '%s passes its own tests, without a warning',
  async (name) => {
    const kit = createCliKit()
    const service = await kit.open()
    const { app, operator } = service.kit
    const ready = await app.listReadyPolicies(operator())
    const { text, summary } = ready.find((policy) => policy.name === name) ?? fail(name)
    expect(summary).toMatch(/^An agent .*\.$/)
    const checked = await app.validatePolicy(operator(), { text, file: 'organisation.yaml' })
    expect(checked.problems).toEqual([])
    expect(checked.testsPassed).toBeGreaterThan(7)
    const ran = await kit.gatehouse(['policy', 'use', name])
    expect([ran.code, ran.err]).toEqual([0, ''])
  },
)

const results = async (name: string) => {
  const kit = createCliKit()
  await kit.gatehouse(['policy', 'use', name])
  const service = await kit.open()
  const write = await service.kit.invoke('mailbot', 'filesystem.write', {
    path: 'ready.txt',
    content: 'a',
  })
  const read = await service.kit.invoke('mailbot', 'filesystem.list', { path: '.' })
  return [write.kind, read.kind]
}

test('lets an agent do what the policy in use lets it', async () => {
  expect(await results('careful')).toEqual(['pending', 'succeeded'])
  expect(await results('read-only')).toEqual(['denied', 'succeeded'])
  expect(await results('trusted')).toEqual(['succeeded', 'succeeded'])
})
