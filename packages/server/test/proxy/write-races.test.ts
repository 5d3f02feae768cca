import type { KitOptions } from '@gatehouse/testkit'
import type { FakeConnection } from '@gatehouse/testkit/fake-service'
import { replacing } from '@gatehouse/testkit/replacing'
import { expect, test } from 'vitest'
import type { Capture, ServiceAdapter, ServiceOperation } from '../../src/ports/service-adapter.ts'
import type { Storage } from '../../src/ports/storage.ts'
import type { StoredWrite, WriteStore } from '../../src/ports/writes.ts'
import { fakeService, openProxyKit, type ProxyKit } from './kit.ts'

/** What happens while a step of a write is under way, once. */
type Between = {
  capture?: () => Promise<unknown>
  execute?: () => Promise<unknown>
  isActing?: boolean
}
type Operation = ServiceOperation<FakeConnection>

const around =
  (between: Between) =>
  (adapter: ServiceAdapter<FakeConnection>): ServiceAdapter<FakeConnection> => {
    const once = async (step: 'capture' | 'execute') => {
      const act = between[step]
      delete between[step]
      between.isActing = true
      await Promise.resolve(act?.()).finally(() => {
        between.isActing = false
      })
    }
    return {
      ...adapter,
      operations: adapter.operations.map(
        (operation): Operation => ({
          ...operation,
          async capture(...given) {
            const found: Capture | Awaited<ReturnType<Operation['capture']>> =
              await operation.capture(...given)
            await once('capture')
            return found
          },
          async execute(...given) {
            await once('execute')
            return operation.execute(...given)
          },
        }),
      ),
    }
  }

/** Opens a kit that does something in the middle of a write. */
const openBetween = async (options: KitOptions = {}) => {
  const between: Between = {}
  const proxy = await openProxyKit({ ...options, adapter: around(between) })
  return Object.assign(proxy, { between })
}

const disconnect = ({ kit }: ProxyKit, forget = false) =>
  kit.app.disconnectService(kit.operator(), { name: 'fake', forget })

type BetweenKit = ProxyKit & { readonly between?: Between }

/** Lets time pass, but none while something happens: a step would be given up that would have ended. */
const pass = ({ kit, between }: BetweenKit) => {
  if (!between?.isActing) kit.clock.move(5_000)
}

/** Lets time pass until the write stands so. */
const passUntil = (proxy: BetweenKit, write_id: string, status: string) =>
  proxy.until(async () => {
    pass(proxy)
    const write = await proxy.write(write_id)
    return write.status === status && write
  })

/** Runs everything that is due: a write that comes after all others has run. */
const runOn = async (proxy: BetweenKit, agent = 'alpha') => {
  proxy.kit.clock.move(20 * 60_000)
  const { write_id } = await proxy.buffer('send', { text: 'last' }, agent)
  await passUntil(proxy, write_id, 'executed')
}

for (const forget of [false, true])
  test(`a write that looks at its service as that is ${forget ? 'forgotten' : 'disconnected'} is cancelled, and never sent`, async () => {
    await using proxy = await openBetween()
    const { kit, server, between } = proxy
    let ended: Promise<unknown> | undefined
    between.capture = async () => {
      ended = disconnect(proxy, forget)
      await ended
      throw new Error('the connection is gone')
    }
    const { write_id } = await proxy.buffer('send', { text: 'cancelled' })
    await passUntil(proxy, write_id, 'cancelled')
    await ended
    await kit.app.connectService(kit.operator(), fakeService)
    await runOn(proxy)
    expect(server.outbox.map(({ text }) => text)).toEqual(['last'])
    expect(await proxy.acts('write.cancelled')).toHaveLength(1)
  })

for (const [how, reconnects] of [
  ['disconnected', false],
  ['disconnected and connected again', true],
] as const)
  test(`a write that was not taken, by a service that was ${how} meanwhile, is cancelled`, async () => {
    await using proxy = await openBetween()
    const { kit, server, between } = proxy
    between.execute = async () => {
      server.fault = ({ kind }) => (kind === 'send' ? 'refuse' : null)
      await disconnect(proxy)
      if (reconnects) await kit.app.connectService(kit.operator(), fakeService)
    }
    const { write_id } = await proxy.buffer('send', { text: 'cancelled' })
    expect(await passUntil(proxy, write_id, 'cancelled')).toMatchObject({
      error: { type: 'ServiceUnavailable' },
    })
    server.fault = () => null
    if (!reconnects) await kit.app.connectService(kit.operator(), fakeService)
    await runOn(proxy)
    expect(server.outbox.map(({ text }) => text)).toEqual(['last'])
  })

test('a write that was not taken waits for its next attempt where its service stays', async () => {
  await using proxy = await openBetween()
  const { server, between } = proxy
  between.execute = async () => {
    server.fault = ({ kind }) => (kind === 'send' ? 'refuse' : null)
  }
  const { write_id } = await proxy.buffer('send', { text: 'sent' })
  await proxy.until(async () => {
    pass(proxy)
    return (await proxy.acts('write.postponed')).length > 0
  })
  server.fault = () => null
  await passUntil(proxy, write_id, 'executed')
  expect(server.outbox).toHaveLength(1)
})

test('a write does not begin after its agent was revoked, however long it looked at its service', async () => {
  await using proxy = await openBetween()
  const { kit, server, between } = proxy
  between.capture = () => kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
  const { write_id } = await proxy.buffer('put', { id: 'a', value: 'x' })
  await passUntil(proxy, write_id, 'cancelled')
  const after = await proxy.buffer('send', { text: 'last' }, 'beta')
  await passUntil(proxy, after.write_id, 'executed')
  expect(server.values()).toEqual({})
  expect(await proxy.acts()).not.toContain('write.postponed')
})

test('a write that was not taken while its agent was revoked is cancelled, also where that is restored at once', async () => {
  await using proxy = await openBetween()
  const { kit, server, between } = proxy
  between.execute = async () => {
    server.fault = ({ kind }) => (kind === 'send' ? 'refuse' : null)
    await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
  }
  const { write_id } = await proxy.buffer('send', { text: 'x' })
  await proxy.until(() => {
    if (between.execute !== undefined) pass(proxy)
    return between.execute === undefined
  })
  await proxy.until(async () => (await proxy.write(write_id)).status !== 'executing')
  server.fault = () => null
  await kit.app.restoreAgent(kit.operator(), { name: 'alpha' })
  expect(await passUntil(proxy, write_id, 'cancelled')).toMatchObject({
    error: { type: 'AgentNotFound' },
  })
  expect(server.outbox).toEqual([])
})

/** Revokes and restores the agent of the writes. */
const revokeAndRestore = async ({ kit }: ProxyKit) => {
  await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
  await kit.app.restoreAgent(kit.operator(), { name: 'alpha' })
}

const ended = (proxy: BetweenKit, write_id: string) =>
  proxy.until(async () => {
    pass(proxy)
    const write = await proxy.write(write_id)
    return !['buffered', 'executing'].includes(write.status) && write
  })

for (const [what, fault] of [
  ['was not taken', 'refuse'],
  ['was lost on its way', 'drop'],
] as const)
  test(`a write that ${what} while its agent was revoked and restored is cancelled, and never sent`, async () => {
    await using proxy = await openBetween()
    const { server, between } = proxy
    let faults = 0
    between.execute = async () => {
      server.fault = ({ kind }) => {
        if (kind !== 'send') return null
        faults += 1
        return faults === 1 ? fault : null
      }
      await revokeAndRestore(proxy)
    }
    const { write_id } = await proxy.buffer('send', { text: 'x' })
    expect(await ended(proxy, write_id)).toMatchObject({
      status: 'cancelled',
      error: { type: 'AgentNotFound' },
    })
    await runOn(proxy, 'beta')
    expect(server.outbox.map(({ text }) => text)).toEqual(['last'])
  })

test('a write that takes place while its agent is revoked and restored can still be undone', async () => {
  await using proxy = await openBetween()
  const { kit, server, between } = proxy
  server.put('things', 'a', 'before')
  between.execute = () => revokeAndRestore(proxy)
  const { write_id } = await proxy.buffer('put', { id: 'a', value: 'after' })
  const { rollback_id } = await passUntil(proxy, write_id, 'executed')
  expect(server.values()).toEqual({ '["things","a"]': 'after' })
  await kit.app.rollBack(kit.operator(), { rollback_id: String(rollback_id) })
  expect(server.values()).toEqual({ '["things","a"]': 'before' })
})

for (const [what, end, type] of [
  ['its service is disconnected', disconnect, 'ServiceUnavailable'],
  ['its agent is revoked and restored', revokeAndRestore, 'AgentNotFound'],
  ['all stays as it is', async () => undefined, 'WriteGivenUp'],
] as const)
  test(`a write that is not taken at its last attempt, while ${what}, waits for a person only where it could be sent again`, async () => {
    await using proxy = await openBetween()
    const { kit, server, between } = proxy
    between.execute = async () => {
      server.fault = ({ kind }) => (kind === 'send' ? 'refuse' : null)
      await end(proxy)
    }
    const { write_id } = await proxy.buffer('send', { text: 'x' })
    const waiting = (await kit.storage.writes.find(write_id)) as StoredWrite
    await kit.storage.writes.replace(waiting, { ...waiting, attempts: 9 })
    const waits = type === 'WriteGivenUp'
    expect(await ended(proxy, write_id)).toMatchObject({
      status: waits ? 'failed' : 'cancelled',
      attempts: 10,
      dead_letter: waits,
      error: { type },
    })
  })

test('a write whose agent is paused while it looks at its service waits until that is resumed, and that is no attempt', async () => {
  await using proxy = await openBetween()
  const { kit, server, between } = proxy
  between.capture = () => kit.app.pauseAgent(kit.operator(), { name: 'alpha' })
  const { write_id } = await proxy.buffer('put', { id: 'a', value: 'x' })
  await proxy.until(() => {
    if (between.capture !== undefined) pass(proxy)
    return between.capture === undefined
  })
  expect(await passUntil(proxy, write_id, 'buffered')).toMatchObject({ attempts: 0 })
  expect(server.values()).toEqual({})
  await kit.app.resumeAgent(kit.operator(), { name: 'alpha' })
  expect(await passUntil(proxy, write_id, 'executed')).toMatchObject({ attempts: 1 })
})

test('a write that policy blocks while it looks at its service is cancelled', async () => {
  await using proxy = await openBetween({ policy: 'version: 1\nrules: []\n' })
  const { kit, server, between } = proxy
  const text = 'version: 1\nrules:\n  - { match: fake.put, tier: blocked }\n'
  between.capture = () => kit.app.savePolicy(kit.operator(), { text })
  const { write_id } = await proxy.buffer('put', { id: 'a', value: 'x' })
  expect(await passUntil(proxy, write_id, 'cancelled')).toMatchObject({
    error: { type: 'PolicyDenied' },
  })
  expect(server.values()).toEqual({})
})

test('a write looks again where its service is connected anew meanwhile: what it saw may be of another account', async () => {
  await using proxy = await openBetween()
  const { kit, server, between } = proxy
  server.put('things', 'a', 'of the old account')
  between.capture = async () => {
    await kit.app.connectService(kit.operator(), {
      ...fakeService,
      settings: { address: 'elsewhere.example' },
    })
    server.put('things', 'a', 'of the new account')
  }
  const { write_id } = await proxy.buffer('put', { id: 'a', value: 'mine' })
  const { rollback_id } = await passUntil(proxy, write_id, 'executed')
  await kit.app.rollBack(kit.operator(), { rollback_id: String(rollback_id) })
  expect(server.values()).toEqual({ '["things","a"]': 'of the new account' })
  expect(await proxy.acts('write.started')).toHaveLength(1)
})

test('people are told of a write that fails while the last one before it is discarded', async () => {
  let counted: (() => Promise<unknown>) | undefined
  /** Lets the others go on after it has counted; within a transaction they come after it. */
  const counting = (writes: WriteStore, waits: boolean): WriteStore =>
    replacing(writes, {
      async counts() {
        const found = await writes.counts()
        const act = counted
        counted = undefined
        const acting = act?.()
        if (waits) await acting
        return found
      },
    })
  const storage = (own: Storage): Storage =>
    replacing(own, {
      writes: counting(own.writes, true),
      transaction: (work) =>
        own.transaction((tx) => work({ ...tx, writes: counting(tx.writes, false) })),
    })
  await using proxy = await openProxyKit({ storage })
  const { kit, server } = proxy
  server.fault = (request) => (request.kind === 'send' && request.text !== 'last' ? 'cut' : null)
  const failed = async (text: string) => {
    const { write_id } = await proxy.buffer('blind', { text })
    // One at a time: this one runs once all of the other has ended.
    const last = await proxy.buffer('send', { text: 'last' })
    await passUntil(proxy, last.write_id, 'executed')
    expect((await proxy.write(write_id)).status).toBe('failed')
    return write_id
  }
  const first = await failed('first')
  let second: Promise<string> | undefined
  counted = () => {
    second = failed('second')
    return second
  }
  await kit.app.discardWrite(kit.operator(), { write_id: first })
  await second
  const page = { status: 'open', limit: 10, offset: 0 } as const
  const alerts = async () => {
    const found = await kit.app.listAlerts(kit.operator(), page)
    return found.alerts.filter(({ kind }) => kind === 'writes')
  }
  expect(await alerts()).toHaveLength(1)
  await kit.app.discardWrite(kit.operator(), { write_id: (await second) ?? '' })
  expect(await alerts()).toEqual([])
})
