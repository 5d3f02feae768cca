import type { FakeFault, FakeRequest } from '@gatehouse/testkit/fake-service'
import { expect, test } from 'vitest'
import { openProxyKit } from './kit.ts'

const page = { limit: 100, offset: 0 }

/** The fault meets the next requests that change something, as often as said; the rest goes well. */
const onChange = (fault: FakeFault, times = 1) => {
  let left = times
  return ({ kind }: FakeRequest): FakeFault | null => {
    if (kind !== 'put' && kind !== 'send') return null
    if (left <= 0) return null
    left -= 1
    return fault
  }
}

test('a write is held until its time, runs once, and shows in the replica at once', async () => {
  await using proxy = await openProxyKit()
  const { kit, server } = proxy
  const ticket = await proxy.buffer('put', { id: 'a', value: 'apples' })
  expect(ticket).toMatchObject({ service: 'fake', operation: 'put', status: 'buffered' })
  expect(Date.parse(ticket.execute_at)).toBe(kit.clock.wall() + 30_000)
  expect(Date.parse(ticket.undo_until ?? '')).toBe(kit.clock.wall() + 30_000 + 72 * 3_600_000)
  const { writes } = await kit.app.listWrites(kit.operator(), { status: 'pending', ...page })
  expect(writes).toMatchObject([
    {
      id: ticket.write_id,
      service: 'fake',
      operation: 'put',
      agent: 'alpha',
      arguments: { collection: 'things', id: 'a', value: 'apples' },
      buffered_at: new Date(kit.clock.wall()).toISOString(),
      execute_at: ticket.execute_at,
      status: 'buffered',
    },
  ])
  expect((await proxy.service()).buffered_writes).toBe(1)
  kit.clock.move(29_999)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(server.values()).toEqual({})
  const done = await proxy.finalized(ticket.write_id, 'executed', 1)
  expect(done).toMatchObject({ result: { version: 1 }, attempts: 1, error: null })
  expect(server.effects.get(ticket.write_id)).toBe(1)
  await proxy.until(async () => {
    const found = await kit.invoke('alpha', 'fake.search', { words: 'apples' })
    return found.kind === 'succeeded' && found.data['total'] === 1
  })
  expect(await proxy.acts()).toEqual(['write.buffered', 'write.started', 'write.executed'])
  expect(await proxy.service()).toMatchObject({ buffered_writes: 0, rollback_points: 1 })
})

test('the log names the service that a call used, and the one that a request is about', async () => {
  const policy = `version: 1
rules:
  - { match: fake.send, tier: approval_required }
  - { match: "*", tier: autonomous }
`
  await using proxy = await openProxyKit({ policy })
  const { kit } = proxy
  const asked = await kit.pending('alpha', 'fake.send', { text: 'asked' })
  await kit.invoke('alpha', 'fake.send', { text: 'asked' })
  await kit.decide(asked, 'approve')
  await kit.resolved('alpha', asked)
  await kit.invoke('alpha', 'fake.search', { words: 'x' })
  await kit.invoke('alpha', 'fake.search', { words: 'x', service: 'nowhere' })
  const calls = (await kit.audit()).filter(({ kind }) => kind === 'call').toReversed()
  const named = calls.map(({ result, detail }) => [result, detail?.['service']])
  expect(named).toEqual([
    ['pending', 'fake'],
    ['pending', 'fake'],
    ['pending', undefined],
    ['success', 'fake'],
    ['success', 'fake'],
    ['error', undefined],
  ])
})

test('what was cancelled never runs, and what ran cannot be cancelled', async () => {
  await using proxy = await openProxyKit()
  const { kit, server } = proxy
  const first = await proxy.buffer('send', { text: 'first' })
  const second = await proxy.buffer('send', { text: 'second' })
  const cancelled = await kit.app.cancelWrite(kit.operator(), { write_id: first.write_id })
  expect(cancelled).toMatchObject({
    kind: 'changed',
    write: { status: 'cancelled', ended_by: 'user:ana' },
  })
  await proxy.finalized(second.write_id, 'executed')
  expect(server.outbox.map(({ text }) => text)).toEqual(['second'])
  for (const { write_id, status } of [
    { write_id: first.write_id, status: 'cancelled' },
    { write_id: second.write_id, status: 'executed' },
  ])
    expect(await kit.app.cancelWrite(kit.operator(), { write_id })).toMatchObject({
      kind: 'conflict',
      write: { status },
    })
  await expect(kit.app.cancelWrite(kit.operator(), { write_id: 'wr-none' })).rejects.toMatchObject({
    type: 'WriteNotFound',
  })
  expect(await proxy.acts('write.cancelled')).toHaveLength(1)
})

test('agents see and cancel their own writes only', async () => {
  await using proxy = await openProxyKit()
  const { kit } = proxy
  const { write_id } = await proxy.buffer('send', { text: 'mine' })
  expect(await kit.invoke('beta', 'writes.list')).toMatchObject({ data: { writes: [], total: 0 } })
  for (const action of ['writes.cancel', 'writes.rollback'])
    expect(await kit.invoke('beta', action, { write_id })).toMatchObject({
      kind: 'failed',
      error: { type: 'WriteNotFound' },
    })
  expect(await kit.invoke('alpha', 'writes.list')).toMatchObject({
    data: { writes: [{ write_id, status: 'buffered' }], total: 1 },
  })
  expect(await kit.invoke('alpha', 'writes.cancel', { write_id })).toMatchObject({
    data: { write_id, status: 'cancelled', ended_by: 'agent:alpha' },
  })
  expect(await kit.invoke('alpha', 'writes.cancel', { write_id })).toMatchObject({
    error: { type: 'WriteNotBuffered' },
  })
})

test('what provably did not happen is tried again, later each time, and in the end waits for a person', async () => {
  await using proxy = await openProxyKit()
  const { kit, server } = proxy
  const { write_id } = await proxy.buffer('send', { text: 'at last' })
  server.fault = onChange('refuse', 3)
  for (const [attempt, waitMs] of [30_000, 5_000, 10_000].entries()) {
    kit.clock.move(waitMs - 1)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect((await proxy.write(write_id)).attempts).toBe(attempt)
    kit.clock.move(1)
    await proxy.until(async () => {
      const { attempts, status } = await proxy.write(write_id)
      return attempts === attempt + 1 && status === 'buffered'
    })
  }
  expect(await proxy.write(write_id)).toMatchObject({
    error: { message: 'fake.example refused the connection' },
    dead_letter: false,
  })
  await proxy.finalized(write_id, 'executed', 20_000)
  expect(server.effects.get(write_id)).toBe(1)

  server.fault = () => 'refuse'
  const lost = await proxy.buffer('send', { text: 'never' })
  kit.clock.move(30_000)
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    await proxy.until(async () => (await proxy.write(lost.write_id)).attempts === attempt)
    await proxy.until(async () => (await proxy.write(lost.write_id)).status !== 'executing')
    kit.clock.move(15 * 60_000)
  }
  expect(await proxy.finalized(lost.write_id, 'failed', 0)).toMatchObject({
    dead_letter: true,
    error: { type: 'WriteGivenUp' },
  })
  expect(server.effects.get(lost.write_id)).toBeUndefined()
  expect((await proxy.service()).dead_letters).toBe(1)
  server.fault = () => null
  const retried = await kit.app.retryWrite(kit.operator(), { write_id: lost.write_id })
  expect(retried).toMatchObject({ kind: 'changed', write: { status: 'buffered' } })
  await proxy.finalized(lost.write_id, 'executed', 0)
  expect(server.effects.get(lost.write_id)).toBe(1)
  expect(await kit.app.retryWrite(kit.operator(), { write_id: lost.write_id })).toMatchObject({
    kind: 'conflict',
  })
})

test('a service that says when it has time is asked again then', async () => {
  await using proxy = await openProxyKit()
  const { write_id } = await proxy.buffer('send', { text: 'x' })
  proxy.server.fault = onChange('busy')
  proxy.kit.clock.move(30_000)
  await proxy.until(async () => (await proxy.write(write_id)).error !== null)
  const { execute_at } = await proxy.write(write_id)
  expect(Date.parse(execute_at)).toBe(proxy.kit.clock.wall() + 2_000)
  await proxy.finalized(write_id, 'executed', 2_000)
})

test('after an unclear end the service is asked: what is there is not sent again, what is not is', async () => {
  await using proxy = await openProxyKit()
  const { server } = proxy
  for (const operation of ['send', 'put'])
    for (const fault of ['cut', 'drop', 'garbage'] as const) {
      const args = operation === 'send' ? { text: fault } : { id: fault, value: operation }
      const { write_id } = await proxy.buffer(operation, args)
      server.fault = onChange(fault)
      proxy.kit.clock.move(30_000)
      if (fault === 'drop')
        await proxy.until(async () => {
          const { status, attempts } = await proxy.write(write_id)
          return status === 'buffered' && attempts === 1
        })
      await proxy.finalized(write_id, 'executed', 5_000)
      expect(server.effects.get(write_id), `${operation} ${fault}`).toBe(1)
    }
  expect(await proxy.acts('write.unclear')).toHaveLength(6)
})

test('what nobody can know is never sent again by itself, and a person decides', async () => {
  await using proxy = await openProxyKit()
  const { kit, server } = proxy
  const cut = await proxy.buffer('blind', { text: 'cut' })
  const drop = await proxy.buffer('blind', { text: 'drop' })
  const faults: FakeFault[] = ['cut', 'drop']
  server.fault = ({ kind }) => (kind === 'send' ? (faults.shift() ?? null) : null)
  for (const { write_id } of [cut, drop])
    expect(await proxy.finalized(write_id, 'failed')).toMatchObject({
      dead_letter: true,
      error: { type: 'OutcomeUnknown', message: expect.stringContaining('keeps no record') },
    })
  kit.clock.move(86_400_000)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(server.outbox).toHaveLength(1)
  const dead = await kit.app.listWrites(kit.operator(), { status: 'dead', ...page })
  expect(dead.writes.map(({ id }) => id).toSorted()).toEqual(
    [cut.write_id, drop.write_id].toSorted(),
  )
  const alerts = async () => {
    const { alerts: open } = await kit.app.listAlerts(kit.operator(), { status: 'open', ...page })
    return open.filter(({ kind }) => kind === 'writes')
  }
  expect(await alerts()).toMatchObject([
    { message: expect.stringContaining('fake failed and wait') },
  ])
  await kit.app.discardWrite(kit.operator(), { write_id: cut.write_id })
  expect(await alerts()).toHaveLength(1)
  await kit.app.retryWrite(kit.operator(), { write_id: drop.write_id })
  expect(await alerts()).toEqual([])
  await proxy.finalized(drop.write_id, 'executed', 0)
  expect(server.outbox.map(({ text }) => text)).toEqual(['cut', 'drop'])
  expect(await proxy.write(cut.write_id)).toMatchObject({
    status: 'failed',
    dead_letter: false,
    ended_by: 'user:ana',
  })
  expect(await kit.app.discardWrite(kit.operator(), { write_id: cut.write_id })).toMatchObject({
    kind: 'conflict',
  })
})

test('a write that gets no answer is given up in time, and not sent again though it is not there', async () => {
  await using proxy = await openProxyKit()
  const { kit, server } = proxy
  const { write_id } = await proxy.buffer('send', { text: 'slow' })
  server.fault = onChange('hang')
  kit.clock.move(30_000)
  await proxy.until(async () => (await proxy.acts('write.started')).length === 1)
  const before = server.requests
  await proxy.until(() => server.requests === before)
  expect(await proxy.finalized(write_id, 'failed', 20_000)).toMatchObject({
    error: { type: 'OutcomeUnknown' },
  })
  expect(server.outbox).toEqual([])
})

test('while the service cannot be asked a doubtful write stays as it is, and is cleared up when it can', async () => {
  await using proxy = await openProxyKit()
  const { kit, server } = proxy
  const { write_id } = await proxy.buffer('send', { text: 'x' })
  let away = true
  server.fault = ({ kind }) => (kind === 'send' ? 'cut' : away ? 'refuse' : null)
  kit.clock.move(30_000)
  for (let looks = 0; looks < 3; looks += 1) {
    await proxy.until(async () => (await kit.storage.writes.find(write_id))?.proofs === looks + 1)
    kit.clock.move(60_000)
  }
  expect(await proxy.write(write_id)).toMatchObject({ status: 'executing' })
  away = false
  await proxy.until(async () => {
    kit.clock.move(60_000)
    return (await proxy.write(write_id)).status === 'executed'
  })
  expect(server.effects.get(write_id)).toBe(1)
})

test('what an agent may no longer do does not run: paused it waits, revoked and blocked it is cancelled', async () => {
  await using proxy = await openProxyKit({ policy: 'version: 1\nrules: []\n' })
  const { kit, server } = proxy
  const held = await proxy.buffer('send', { text: 'held' })
  const gone = await proxy.buffer('send', { text: 'gone' }, 'beta')
  await kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
  await kit.app.revokeAgent(kit.operator(), { name: 'beta' })
  expect(await proxy.write(gone.write_id)).toMatchObject({ status: 'cancelled' })
  kit.clock.move(30_000)
  await proxy.until(async () => {
    const { execute_at } = await proxy.write(held.write_id)
    return Date.parse(execute_at) > kit.clock.wall()
  })
  expect(await proxy.write(held.write_id)).toMatchObject({ status: 'buffered', attempts: 0 })
  await kit.app.resumeAgent(kit.operator(), { name: 'alpha' })
  await proxy.finalized(held.write_id, 'executed', 5_000)
  const blocked = await proxy.buffer('send', { text: 'blocked' })
  await kit.app.savePolicy(kit.operator(), {
    text: 'version: 1\nrules:\n  - { match: fake.send, tier: blocked }\n',
  })
  expect(await proxy.finalized(blocked.write_id, 'cancelled')).toMatchObject({
    error: { type: 'PolicyDenied' },
  })
  expect(server.outbox.map(({ text }) => text)).toEqual(['held'])
})

test('a burst of writes is for a person to decide, and what they approve runs', async () => {
  await using proxy = await openProxyKit({ settings: { 'proxy.burst_limit': 3 } })
  const { kit } = proxy
  for (const text of ['1', '2', '3']) await proxy.buffer('send', { text })
  const id = await kit.pending('alpha', 'fake.send', { text: '4' })
  const approval = await kit.app.showApproval(kit.operator(), { approval_id: id })
  expect(approval.reason).toContain('burst')
  expect((await kit.invoke('alpha', 'fake.search')).kind).toBe('succeeded')
  expect((await kit.invoke('beta', 'fake.send', { text: 'other' })).kind).toBe('succeeded')
  await kit.decide(id, 'approve')
  expect(await kit.resolved('alpha', id)).toMatchObject({ result: { success: true } })
  const { total } = await kit.app.listWrites(kit.operator(), { agent: 'alpha', ...page })
  expect(total).toBe(4)
  kit.clock.move(60_000)
  await proxy.buffer('send', { text: 'later' })
})

test('of many calls at once exactly as many buffer by themselves as are usual', async () => {
  await using proxy = await openProxyKit({ settings: { 'proxy.burst_limit': 5 } })
  const calls = Array.from({ length: 20 }, (_, n) =>
    proxy.kit.invoke('alpha', 'fake.send', { text: `${n}` }),
  )
  const kinds = (await Promise.all(calls)).map(({ kind }) => kind)
  expect(kinds.filter((kind) => kind === 'succeeded')).toHaveLength(5)
  expect(kinds.filter((kind) => kind === 'pending')).toHaveLength(15)
})

test('what an operation hides is shown to nobody, and sent all the same', async () => {
  await using proxy = await openProxyKit()
  const { write_id } = await proxy.buffer('put', { id: 'a', value: 'v', private: 'canary-7' })
  expect((await proxy.write(write_id)).arguments).toMatchObject({
    value: 'v',
    private: '[redacted]',
  })
  const stored = await proxy.kit.storage.writes.find(write_id)
  expect(stored?.arguments_json).toContain('canary-7')
  const acts = (await proxy.kit.audit()).filter(({ capability }) => capability.startsWith('write.'))
  expect(JSON.stringify(acts)).not.toContain('canary-7')
})

test('the delay of an operation is as configured', async () => {
  await using proxy = await openProxyKit({
    settings: { 'proxy.delays': new Map([['fake.send', 5]]) },
  })
  const { execute_at, write_id } = await proxy.buffer('send', { text: 'x' })
  expect(Date.parse(execute_at)).toBe(proxy.kit.clock.wall() + 5_000)
  await proxy.finalized(write_id, 'executed', 5_000)
})

test('a slow service holds up its own writes only', async () => {
  await using proxy = await openProxyKit()
  const { kit, server } = proxy
  await kit.app.connectService(kit.operator(), {
    kind: 'fake',
    name: 'other',
    settings: {},
    secrets: { password: 'open sesame' },
    agents: ['*'],
  })
  const slow = await proxy.buffer('send', { text: 'slow', service: 'fake' })
  const after = await proxy.buffer('send', { text: 'after', service: 'fake' })
  const quick = await proxy.buffer('send', { text: 'quick', service: 'other' })
  server.fault = (request) => (request.kind === 'send' && request.text === 'slow' ? 'hang' : null)
  await proxy.finalized(quick.write_id, 'executed')
  expect((await proxy.write(slow.write_id)).status).toBe('executing')
  expect((await proxy.write(after.write_id)).status).toBe('buffered')
  await proxy.finalized(after.write_id, 'executed', 20_000)
})
