import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'

const policy = `version: 1
rules:
  - { match: filesystem.append, tier: approval_required }
`
const line = { path: 'log.txt', content: 'one\n' }

const asked = async (kit: Kit): Promise<string> => {
  await kit.agent('alpha')
  mkdirSync(kit.workspace('alpha'), { recursive: true })
  writeFileSync(join(kit.workspace('alpha'), 'log.txt'), '')
  return kit.pending('alpha', 'filesystem.append', line)
}

const delivered = async (kit: Kit, id: string) => (await kit.storage.approvals.find(id))?.delivered

/** A connection whose every write waits for the test to say whether it was taken. */
const connect = (kit: Kit) => {
  const writes: ((taken: boolean) => void)[] = []
  const subscription = kit.app.subscribeEvents(
    'alpha',
    () => new Promise<boolean>((resolve) => writes.push(resolve)),
  )
  return { writes, subscription }
}

test('an outcome is recorded before it is written, and is open again where no connection took it', async () => {
  await using kit = await createKit({ policy })
  const id = await asked(kit)
  const [first, second] = [connect(kit), connect(kit)]
  await kit.decide(id, 'approve')
  await expect.poll(() => [first.writes.length, second.writes.length]).toEqual([1, 1])
  expect(await delivered(kit, id)).toBe('sending')
  first.writes[0]?.(false)
  second.writes[0]?.(false)
  await expect.poll(() => delivered(kit, id)).toBe('no')
  expect(await kit.invoke('alpha', 'filesystem.append', line)).toMatchObject({ kind: 'succeeded' })
  expect(await delivered(kit, id)).toBe('yes')
})

test('one connection that takes it is enough, whatever becomes of the others', async () => {
  await using kit = await createKit({ policy })
  const id = await asked(kit)
  const [first, second] = [connect(kit), connect(kit)]
  await kit.decide(id, 'approve')
  await expect.poll(() => first.writes.length + second.writes.length).toBe(2)
  first.writes[0]?.(true)
  second.writes[0]?.(false)
  await expect.poll(() => delivered(kit, id)).toBe('yes')
  expect(await kit.pending('alpha', 'filesystem.append', line)).not.toBe(id)
})

test('a push that fails takes nothing back from another way of delivery', async () => {
  await using kit = await createKit({ policy })
  const id = await asked(kit)
  const stuck = connect(kit)
  await kit.decide(id, 'approve')
  await expect.poll(() => stuck.writes.length).toBe(1)
  await kit.app.getApprovalOutcome(kit.op('alpha'), { approval_id: id })
  stuck.writes[0]?.(false)
  stuck.subscription[Symbol.dispose]()
  await kit.app.getApprovalOutcome(kit.op('alpha'), { approval_id: id })
  expect(await delivered(kit, id)).toBe('yes')
  expect(await kit.pending('alpha', 'filesystem.append', line)).not.toBe(id)
})

test('a call made while an outcome is on its way is new, and no failed push brings the old one back', async () => {
  await using kit = await createKit({ policy })
  const id = await asked(kit)
  const stuck = connect(kit)
  await kit.decide(id, 'approve')
  await expect.poll(() => stuck.writes.length).toBe(1)
  const next = await kit.pending('alpha', 'filesystem.append', line)
  expect(next).not.toBe(id)
  stuck.writes[0]?.(false)
  await expect.poll(() => delivered(kit, id)).toBe('no')
  stuck.subscription[Symbol.dispose]()
  await kit.decide(next, 'approve')
  await kit.resolved('alpha', next)
  expect(await kit.invoke('alpha', 'filesystem.append', line)).toMatchObject({
    kind: 'succeeded',
    data: { size_bytes: 8 },
  })
  const third = await kit.pending('alpha', 'filesystem.append', line)
  expect([id, next]).not.toContain(third)
})

test('an answer that nobody reads is no delivery', async () => {
  await using kit = await createKit({ policy })
  const id = await asked(kit)
  await kit.decide(id, 'approve')
  await kit.resolved('alpha', id)
  const gone = kit.op('alpha', { signal: AbortSignal.abort() })
  await kit.app.getApprovalOutcome(gone, { approval_id: id })
  await kit.app.waitApprovalOutcome(gone, { approval_id: id, timeout_ms: 10 })
  await kit.app.pollEvents(gone, { timeout_ms: 0 })
  expect(await kit.invoke('alpha', 'filesystem.append', line)).toMatchObject({ kind: 'succeeded' })
})

test('a wake is seen only once a connection took it', async () => {
  await using kit = await createKit({ policy })
  await kit.agent('alpha')
  const stuck = connect(kit)
  await kit.app.wakeAgent({ agent: 'alpha', reason: 'mail' })
  kit.clock.move(1_000)
  await expect.poll(() => stuck.writes.length).toBe(1)
  stuck.writes[0]?.(false)
  expect(await kit.storage.wakes.listOpen(10)).toMatchObject([{ reason: 'mail', seen_ms: null }])
  await kit.app.wakeAgent({ agent: 'alpha', reason: 'more' })
  kit.clock.move(1_000)
  await expect.poll(() => stuck.writes.length).toBe(2)
  stuck.writes[1]?.(true)
  await expect
    .poll(async () => (await kit.storage.wakes.listOpen(10)).map(({ reason }) => reason))
    .toEqual(['mail'])
})
