import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const policy = `version: 1
rules:
  - { match: state.set, tier: approval_required }
`

test('a run that this node claimed without hearing of it is closed, and that of another node left alone', async () => {
  await using kit = await createKit({ policy })
  await kit.agent('alpha')
  const claim = async (key: string, node: string) => {
    const id = await kit.pending('alpha', 'state.set', { key, value: 1 })
    const current = await kit.storage.approvals.find(id)
    if (!current) throw new Error(`there is no ${id}`)
    const running = { status: 'approved', execution: 'running', exec_id: `${node}:aud-1` } as const
    await kit.storage.approvals.replace(current, { ...current, ...running })
    return id
  }
  const own = await claim('a', kit.parts.node)
  const foreign = await claim('b', 'node-other')
  const execution = async (id: string) => (await kit.storage.approvals.find(id))?.execution
  await expect
    .poll(async () => {
      kit.clock.move(1_000)
      return execution(own)
    })
    .toBe('interrupted')
  expect(await execution(foreign)).toBe('running')
  expect(await kit.invoke('alpha', 'state.get', { key: 'a' })).toMatchObject({ kind: 'failed' })
})
