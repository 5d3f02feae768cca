import { expect, test } from 'vitest'
import { fakeService, openProxyKit } from './kit.ts'

test('a service is connected once everything about it was seen to work, and what is wrong is named', async () => {
  await using proxy = await openProxyKit({ connects: false })
  const { kit, server } = proxy
  const connect = (change: object) =>
    kit.app.connectService(kit.operator(), { ...fakeService, ...change })
  await expect(connect({ secrets: { password: 'canary-close' } })).rejects.toMatchObject({
    type: 'ServiceConnectionFailed',
    message: expect.stringContaining('login: the password is wrong'),
    recovery: expect.arrayContaining([
      { action: 'well: connection', description: 'fake.example answers' },
    ]),
  })
  await expect(connect({ secrets: {} })).rejects.toThrow('the credential password is missing')
  await expect(connect({ secrets: { pasword: 'x' } })).rejects.toThrow('there is no credential')
  await expect(connect({ settings: { adress: 'x' } })).rejects.toThrow('adress')
  await expect(connect({ settings: { address: 7 } })).rejects.toThrow('address')
  await expect(connect({ kind: 'none' })).rejects.toMatchObject({ type: 'ServiceKindNotFound' })
  await expect(connect({ agents: ['nobody'] })).rejects.toMatchObject({ type: 'AgentNotFound' })
  server.fault = () => 'refuse'
  await expect(connect({})).rejects.toThrow('fake.example refused the connection')
  expect(await kit.app.showProxy(kit.operator())).toEqual({ services: [] })
  server.fault = () => null
  const { service, checks } = await connect({})
  expect(service).toMatchObject({ name: 'fake', kind: 'fake', agents: ['*'] })
  expect(checks.map(({ ok }) => ok)).toEqual([true, true])
  const told = JSON.stringify([await kit.audit(), service, checks])
  expect(told).not.toContain('open sesame')
  expect(told).not.toContain('canary-close')
  expect(await kit.app.testService(kit.operator(), { name: 'fake' })).toMatchObject({ ok: true })
  server.password = 'another'
  expect(await kit.app.testService(kit.operator(), { name: 'fake' })).toMatchObject({
    ok: false,
    checks: [{ ok: true }, { name: 'login', ok: false, fix: 'Enter the right one.' }],
  })
})

test('only agents that an operator named may use it; for others it is not there', async () => {
  await using proxy = await openProxyKit({ connects: false })
  const { kit } = proxy
  await kit.app.connectService(kit.operator(), { ...fakeService, agents: ['alpha'] })
  expect((await kit.invoke('alpha', 'fake.search')).kind).toBe('succeeded')
  for (const capability of ['fake.search', 'fake.send'])
    expect(
      await kit.invoke('beta', capability, {
        ...(capability === 'fake.send' ? { text: 'x' } : {}),
      }),
    ).toMatchObject({
      kind: 'failed',
      error: { type: 'ServiceNotFound' },
    })
  await kit.app.connectService(kit.operator(), { ...fakeService, name: 'second', agents: ['*'] })
  expect(await kit.invoke('alpha', 'fake.search')).toMatchObject({
    error: { type: 'ServiceAmbiguous', message: expect.stringContaining('fake, second') },
  })
  expect((await kit.invoke('alpha', 'fake.search', { service: 'second' })).kind).toBe('succeeded')
  expect((await kit.invoke('beta', 'fake.search')).kind).toBe('succeeded')
})

test('connecting again with other credentials keeps what was read; with other settings it is read anew', async () => {
  await using proxy = await openProxyKit()
  const { kit, server, opened } = proxy
  server.put('things', 'a', 'x')
  await kit.app.syncService(kit.operator(), { name: 'fake', full: false })
  await proxy.until(async () => (await proxy.service()).replica_entries === 1)
  server.password = 'a newer one'
  await kit.app.connectService(kit.operator(), {
    ...fakeService,
    secrets: { password: 'a newer one' },
  })
  expect((await kit.storage.services.find('fake'))?.cursor).toBe('1')
  await proxy.until(() => opened[0]?.closed === true)
  await kit.app.connectService(kit.operator(), {
    ...fakeService,
    settings: { address: 'elsewhere.example' },
    secrets: {},
  })
  const service = await kit.storage.services.find('fake')
  expect(service?.full === true || service?.status === 'connected').toBe(true)
  await proxy.until(async () => {
    kit.clock.move(1_000)
    return (await proxy.service()).status === 'connected'
  })
})

test('disconnecting cancels what waits and leaves nothing behind', async () => {
  await using proxy = await openProxyKit()
  const { kit, server, opened } = proxy
  server.put('things', 'a', 'x')
  const done = await proxy.buffer('put', { id: 'b', value: 'y' })
  await proxy.finalized(done.write_id, 'executed')
  const waiting = await proxy.buffer('send', { text: 'never' })
  const ended = await kit.app.disconnectService(kit.operator(), { name: 'fake', forget: false })
  expect(ended).toMatchObject({
    status: 'disconnected',
    replica_entries: 0,
    buffered_writes: 0,
    rollback_points: 0,
    next_sync: null,
  })
  expect(await proxy.write(waiting.write_id)).toMatchObject({ status: 'cancelled' })
  kit.clock.move(3_600_000)
  await new Promise((resolve) => setTimeout(resolve, 30))
  expect(server.outbox).toEqual([])
  await proxy.until(() => opened.every(({ closed }) => closed))
  expect((await kit.app.listSecrets(kit.operator())).map(({ name }) => name)).toEqual([])
  expect(await kit.storage.rollbacks.capture(done.write_id)).toBeNull()
  expect(await kit.invoke('alpha', 'fake.search')).toMatchObject({
    error: { type: 'ServiceNotFound' },
  })
  expect((await kit.app.health(kit.operator())).components.proxy).toMatchObject({
    status: 'healthy',
    services: 0,
  })
  await kit.app.connectService(kit.operator(), fakeService)
  await proxy.until(async () => (await proxy.service()).replica_entries === 2)
  await kit.app.disconnectService(kit.operator(), { name: 'fake', forget: true })
  expect(await kit.app.showProxy(kit.operator())).toEqual({ services: [] })
  await expect(
    kit.app.disconnectService(kit.operator(), { name: 'fake', forget: false }),
  ).rejects.toMatchObject({ type: 'ServiceNotFound' })
})

test('what can be connected says what it asks for', async () => {
  await using proxy = await openProxyKit({ connects: false })
  const [kind] = await proxy.kit.app.listServiceKinds(proxy.kit.operator())
  expect(kind).toMatchObject({
    kind: 'fake',
    settings: { properties: { address: { description: 'Where it is.' } } },
    secrets: [{ name: 'password', required: true }],
  })
  expect(kind?.operations.map(({ name, undoable }) => [name, undoable])).toEqual([
    ['put', true],
    ['remove', true],
    ['send', false],
    ['blind', false],
  ])
})
