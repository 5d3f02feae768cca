import { BufferedWrite, BufferedWriteList, ProxyStatus } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { silent } from '../../src/log/testing.ts'
import { createIds } from '../../src/platform/ids.ts'
import { createRestApp } from '../../src/transport/rest/create-rest-app.ts'
import { openProxyKit, type ProxyKit } from './kit.ts'

/** The routes over the real application, with a token of each role. */
async function bindCaller({ kit }: ProxyKit) {
  const rest = createRestApp({ app: kit.app, version: '1.2.3', ids: createIds(), log: silent })
  const tokens = new Map<string, string>()
  for (const role of ['operator', 'approver', 'viewer'] as const) {
    const { token } = await kit.app.createUserToken(kit.operator(), { label: role, role })
    tokens.set(role, token)
  }
  return async (method: string, path: string, role = 'operator', body?: object) => {
    const response = await rest.fetch(
      new Request(`http://gatehouse.localhost${path}`, {
        method,
        headers: {
          authorization: `Bearer ${tokens.get(role)}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      }),
    )
    return {
      status: response.status,
      body: (await response.json()) as Record<string, unknown>,
    }
  }
}

test('services and writes are told as the contract has it, and only who may cancels', async () => {
  await using proxy = await openProxyKit()
  const call = await bindCaller(proxy)
  const status = await call('GET', '/api/proxy/status', 'viewer')
  expect(status.status).toBe(200)
  expect(ProxyStatus.parse(status.body).services).toMatchObject([
    {
      name: 'fake',
      status: 'connected',
      last_sync: new Date(proxy.kit.clock.wall()).toISOString(),
      replica_entries: 0,
      buffered_writes: 0,
      rollback_points: 0,
    },
  ])
  const { write_id } = await proxy.buffer('send', { text: 'x' })
  const listed = await call('GET', '/api/proxy/writes', 'viewer')
  expect(Object.keys(listed.body).toSorted()).toEqual(['total', 'writes'])
  const [write] = BufferedWriteList.parse(listed.body).writes
  for (const field of [
    ...['id', 'service', 'operation', 'agent'],
    ...['arguments', 'buffered_at', 'execute_at', 'status'],
  ])
    expect(write).toHaveProperty(field)
  const path = `/api/proxy/writes/${write_id}/cancel`
  expect((await call('POST', path, 'viewer')).status).toBe(403)
  const cancelled = await call('POST', path, 'approver')
  expect(cancelled.status).toBe(200)
  expect(BufferedWrite.parse(cancelled.body)).toMatchObject({
    id: write_id,
    status: 'cancelled',
    ended_by: 'user:approver',
  })
  expect(await call('POST', path)).toMatchObject({
    status: 409,
    body: { code: 'WriteNotBuffered', current: { id: write_id, status: 'cancelled' } },
  })
  const done = await proxy.buffer('send', { text: 'y' })
  await proxy.finalized(done.write_id, 'executed')
  expect(await call('POST', `/api/proxy/writes/${done.write_id}/cancel`)).toMatchObject({
    status: 409,
    body: { current: { status: 'executed' } },
  })
  expect((await call('POST', '/api/proxy/writes/wr-unknown/cancel')).status).toBe(404)
  expect((await call('GET', '/api/proxy/writes?limit=0')).status).toBe(400)
  expect((await call('GET', '/api/proxy/writes')).body).toEqual({ writes: [], total: 0 })
  expect((await call('GET', '/api/proxy/writes?status=all')).body).toMatchObject({ total: 2 })
  for (const [method, rest] of [
    ['POST', 'services/fake/sync'],
    ['POST', 'services/fake/disconnect'],
  ])
    expect((await call(String(method), `/api/proxy/${rest}`, 'approver', {})).status).toBe(403)
})

test('the metrics count services and writes', async () => {
  await using proxy = await openProxyKit()
  await proxy.buffer('send', { text: 'x' })
  const text = await proxy.kit.app.renderMetrics(proxy.kit.operator())
  expect(text).toContain('gatehouse_services{status="connected"} 1\n')
  expect(text).toContain('gatehouse_writes{state="pending"} 1\n')
  expect(text).toContain('gatehouse_writes{state="dead"} 0\n')
})

test('while hundreds of writes come, run and are cancelled every answer adds up', async () => {
  await using proxy = await openProxyKit()
  const call = await bindCaller(proxy)
  const ids: string[] = []
  const looks: Promise<void>[] = []
  const look = async () => {
    const [status, writes, all] = await Promise.all([
      call('GET', '/api/proxy/status'),
      call('GET', '/api/proxy/writes?limit=1000'),
      call('GET', '/api/proxy/writes?status=all&limit=1000'),
    ])
    expect([status.status, writes.status, all.status]).toEqual([200, 200, 200])
    ProxyStatus.parse(status.body)
    for (const write of BufferedWriteList.parse(writes.body).writes)
      expect(['buffered', 'executing']).toContain(write.status)
    const { writes: every, total } = BufferedWriteList.parse(all.body)
    expect(every).toHaveLength(total)
  }
  for (let n = 0; n < 200; n += 1) {
    const { write_id } = await proxy.buffer(n % 2 ? 'send' : 'put', {
      ...(n % 2 ? { text: `${n}` } : { id: `${n}`, value: 'v' }),
    })
    ids.push(write_id)
    if (n % 20 === 0) looks.push(look())
  }
  proxy.kit.clock.move(30_000)
  const answers = await Promise.all(
    ids.filter((_, n) => n % 3 === 0).map((id) => call('POST', `/api/proxy/writes/${id}/cancel`)),
  )
  for (const { status } of answers) expect([200, 409]).toContain(status)
  for (let n = 0; n < 5; n += 1) looks.push(look())
  await Promise.all(looks)
  await proxy.until(async () => (await proxy.service()).buffered_writes === 0)
  const { writes } = BufferedWriteList.parse(
    (await call('GET', '/api/proxy/writes?status=all&limit=1000')).body,
  )
  const counted = writes.filter(({ status }) => status === 'cancelled').length
  expect(counted).toBe(answers.filter(({ status }) => status === 200).length)
  expect(writes.filter(({ status }) => status === 'executed')).toHaveLength(200 - counted)
  expect(proxy.server.effects.size).toBe(200 - counted)
})
