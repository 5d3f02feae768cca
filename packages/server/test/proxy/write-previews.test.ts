import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import type { ServiceAdapter } from '../../src/ports/service-adapter.ts'
import { openProxyKit, type ProxyKit } from './kit.ts'

const policy = `version: 1
rules:
  - { match: "writes.cancel", tier: approval_required }
  - { match: "writes.rollback", tier: approval_required }
  - { match: "*", tier: autonomous }
`

const cardOf = async ({ kit }: ProxyKit, approval_id: string): Promise<string> =>
  (await kit.app.showApproval(kit.operator(), { approval_id })).preview?.text ?? ''

const shown = async (proxy: ProxyKit, act: 'cancel' | 'rollback', write_id: string) =>
  cardOf(proxy, await proxy.kit.pending('alpha', `writes.${act}`, { write_id }))

test('the write that would be cancelled is shown, but for what is private in it', async () => {
  await using proxy = await openProxyKit({ policy })
  const put = { id: 'a', value: 'apples', private: 'PIN 1234' }
  const { write_id } = await proxy.buffer('put', put)
  const text = await shown(proxy, 'cancel', write_id)
  expect(text).toContain(`Cancel the write ${write_id}, put at fake.\nIt would run at 2`)
  expect(text).toContain('"value": "apples"')
  expect(text).not.toContain('1234')
  expect((await proxy.write(write_id)).status).toBe('buffered')
  const foreign = await proxy.kit.invoke('beta', 'writes.cancel', { write_id })
  expect(foreign).toMatchObject({ kind: 'failed', error: { type: 'WriteNotFound' } })
})

test('what an undo would do is shown, and nothing is done for it', async () => {
  await using proxy = await openProxyKit({ policy })
  const { server } = proxy
  server.put('things', 'a', 'before')
  const first = await proxy.buffer('put', { id: 'a', value: 'after' })
  await proxy.finalized(first.write_id, 'executed')
  const text = await shown(proxy, 'rollback', first.write_id)
  expect(text).toContain(`Undo the write ${first.write_id}, put at fake.`)
  expect(text).toContain('Steps:\n  Put a back\n')
  expect(server.values()).toEqual({ '["things","a"]': 'after' })
  expect(await proxy.acts('rollback.')).toEqual([])
  const second = await proxy.buffer('put', { id: 'b', value: 'mine' })
  await proxy.finalized(second.write_id, 'executed')
  server.put('things', 'b', 'theirs')
  const changed = await shown(proxy, 'rollback', second.write_id)
  expect(changed).toContain('The write cannot be undone now: ')
  expect(changed).toContain('changed since: ')
})

test('what can never be undone is answered at once, and no person is asked', async () => {
  await using proxy = await openProxyKit({ policy })
  const { write_id } = await proxy.buffer('put', { id: 'a', value: 'x' })
  const early = await proxy.kit.invoke('alpha', 'writes.rollback', { write_id })
  expect(early).toMatchObject({ kind: 'failed', error: { type: 'RollbackNotFound' } })
  const foreign = await proxy.kit.invoke('beta', 'writes.rollback', { write_id })
  expect(foreign).toMatchObject({ kind: 'failed', error: { type: 'WriteNotFound' } })
})

/** A service whose operations plan an undo in this way. */
const planning =
  (planUndo: () => Promise<never>) =>
  (adapter: ServiceAdapter<never>): ServiceAdapter => ({
    ...adapter,
    operations: adapter.operations.map((operation) => ({ ...operation, planUndo })),
  })

test('a service that cannot be asked, or does not answer, is noted and keeps nobody waiting', async () => {
  let asked = 0
  let answer = (): Promise<never> => Promise.reject(new Error('refused by 10.0.0.7'))
  const adapter = planning(() => {
    asked += 1
    return answer()
  })
  await using proxy = await openProxyKit({ policy, adapter: adapter as never })
  const made = await Promise.all(['a', 'b'].map((id) => proxy.buffer('put', { id, value: 'x' })))
  const [first = '', second = ''] = made.map(({ write_id }) => write_id)
  for (const id of [first, second]) await proxy.finalized(id, 'executed')
  const down = await shown(proxy, 'rollback', first)
  expect(down).toContain(`Undo the write ${first}, put at fake.`)
  expect(down).toContain('No details can be shown now: The service fake cannot be used now')
  answer = () => new Promise(() => {})
  const held = proxy.kit.pending('alpha', 'writes.rollback', { write_id: second })
  await until(() => asked === 2)
  proxy.kit.clock.move(10_000)
  expect(await cardOf(proxy, await held)).toContain('no answer within 10 s')
})
