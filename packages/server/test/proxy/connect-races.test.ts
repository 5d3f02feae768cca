import { replacing } from '@gatehouse/testkit/replacing'
import { expect, test } from 'vitest'
import { OpenServices } from '../../src/app/proxy/open-services.ts'
import { silent } from '../../src/log/testing.ts'
import type { ReplicaChange } from '../../src/ports/replica.ts'
import type { Secrets } from '../../src/ports/secrets.ts'
import type { ServiceAdapter } from '../../src/ports/service-adapter.ts'
import type { StoredService } from '../../src/ports/services.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { fakeService, openProxyKit, type ProxyKit } from './kit.ts'

/** What happens between two steps, once. */
type Between = {
  dropped?: () => Promise<unknown>
  keeping?: () => Promise<unknown>
  forgetting?: () => Promise<unknown>
}

const once = async (between: Between, step: keyof Between): Promise<void> => {
  const act = between[step]
  delete between[step]
  await act?.()
}

/** A store in which something happens after a part of a replica was dropped. */
const storageAround =
  (between: Between) =>
  (storage: Storage): Storage =>
    replacing(storage, {
      async transaction(work) {
        let isDropping = false
        const done = await storage.transaction((tx) =>
          work({
            ...tx,
            replica: replacing(tx.replica, {
              dropOlder(...given) {
                isDropping = true
                return tx.replica.dropOlder(...given)
              },
            }),
          }),
        )
        if (isDropping) await once(between, 'dropped')
        return done
      },
    })

/** A vault in which something happens as the credentials of a service are kept or forgotten. */
const secretsAround = (between: Between, secrets: Secrets): Secrets =>
  replacing(secrets, {
    async keepForService(name, value) {
      await once(between, 'keeping')
      await secrets.keepForService(name, value)
    },
    async forgetForService(name) {
      await once(between, 'forgetting')
      await secrets.forgetForService(name)
    },
  })

const openBetween = async (connects = true) => {
  const between: Between = {}
  const proxy = await openProxyKit({
    connects,
    storage: storageAround(between),
    parts: (parts) => ({ secrets: secretsAround(between, parts.secrets) }),
    // Whatever the password, so that several can be told apart.
    adapter: (adapter) => ({ ...adapter, test: async () => [] }),
  })
  return Object.assign(proxy, { between })
}

const connect = ({ kit }: Pick<ProxyKit, 'kit'>, address: string, password: string) =>
  kit.app.connectService(kit.operator(), {
    ...fakeService,
    settings: { address },
    secrets: password === '' ? {} : { password },
  })

const disconnect = ({ kit }: Pick<ProxyKit, 'kit'>, forget: boolean) =>
  kit.app.disconnectService(kit.operator(), { name: 'fake', forget })

const rowOf = async ({ kit }: Pick<ProxyKit, 'kit'>): Promise<StoredService> =>
  (await kit.storage.services.find('fake')) as StoredService

const passwordOf = ({ kit }: Pick<ProxyKit, 'kit'>): Promise<string> =>
  kit.parts.secrets.use(
    {
      name: 'service:fake.password',
      agent: null,
      capability: 'service:fake',
      host: 'fake.example',
    },
    async (value) => value,
  )

const settled = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (cause: { type: string }) => cause.type,
  )

const stray = (id: string): ReplicaChange => ({
  kind: 'put',
  entry: {
    ...{ collection: 'things', id, version: '1', title: id, from: '', text: id },
    ...{ sort_ms: 0, until_ms: 0, flags: [], keys: [], body: {}, size_bytes: 0 },
  },
})

/** An adapter whose connections know their address, and a log of what was opened. */
const addressed = (
  addresses: string[],
  sync: (address: string) => AsyncGenerator<{ changes: ReplicaChange[]; cursor: string }>,
) => {
  const known = new Map<AsyncDisposable, string>()
  return (adapter: ServiceAdapter<never>): ServiceAdapter =>
    ({
      ...adapter,
      async open(connection) {
        const opened = await adapter.open(connection)
        const address = String(connection.settings['address'])
        addresses.push(address)
        known.set(opened, address)
        return opened
      },
      sync: (opened) => sync(known.get(opened) ?? ''),
    }) as ServiceAdapter
}

test('a service that was forgotten and connected again is opened anew by every process, also one that has the old account open', async () => {
  /** Of the other process alone. */
  const addresses: string[] = []
  await using proxy = await openProxyKit({
    adapter: addressed([], async function* () {}) as never,
  })
  const { kit } = proxy
  const adapter = addressed(addresses, async function* () {})({
    ...{ kind: 'fake', open: async () => ({ [Symbol.asyncDispose]: async () => {} }) },
  } as never)
  await using other = new OpenServices({
    ...{ adapters: new Map([['fake', adapter]]), clock: kit.clock, log: silent },
    secrets: kit.parts.secrets,
  })
  await other.use(await rowOf(proxy), async () => undefined)
  for (let n = 0; n < 3; n += 1) {
    const address = `account${n}.example`
    await disconnect(proxy, n < 2)
    await connect(proxy, address, 'open sesame')
    addresses.length = 0
    await other.use(await rowOf(proxy), async () => undefined)
    expect(addresses).toEqual([address])
  }
})

test('a batch that comes after its service was forgotten and connected again is dropped, though the lease of the new one was kept', async () => {
  const batch = new AbortController()
  let isBegun = false
  const adapter = addressed([], async function* (address) {
    if (address === 'fake.example') {
      isBegun = true
      await new Promise((resolve) => batch.signal.addEventListener('abort', resolve))
    }
    yield { changes: [stray(address)], cursor: '1' }
  })
  await using proxy = await openProxyKit({ connects: false, adapter: adapter as never })
  const { kit } = proxy
  const ids = async () => {
    const page = { order: 'oldest_first', limit: 10, offset: 0 } as const
    return (await kit.storage.replica.query('fake', page)).entries.map(({ id }) => id)
  }
  await connect(proxy, 'fake.example', 'open sesame')
  await proxy.until(() => isBegun)
  await disconnect(proxy, true)
  await connect(proxy, 'elsewhere.example', 'open sesame')
  await proxy.until(async () => {
    kit.clock.move(20_000)
    const nowMs = kit.clock.now()
    return !(await kit.storage.services.lease('fake', 'another', { nowMs, untilMs: nowMs }))
  })
  batch.abort()
  await proxy.until(async () => {
    kit.clock.move(1_000)
    return (await ids()).length > 0
  })
  expect(await ids()).toEqual(['elsewhere.example'])
})

test('what a new connection reads while the old replica is still being dropped stays', async () => {
  await using proxy = await openBetween()
  const { server, between } = proxy
  for (let n = 0; n < 60; n += 1) server.put('things', `t${n}`, 'x')
  const readAll = () =>
    proxy.until(async () => {
      proxy.kit.clock.move(1_000)
      const { status, replica_entries } = await proxy.service()
      return status === 'connected' && replica_entries === 60
    })
  await readAll()
  between.dropped = async () => {
    await connect(proxy, 'fake.example', 'open sesame')
    await readAll()
  }
  expect(await disconnect(proxy, false)).toMatchObject({
    status: 'connected',
    replica_entries: 60,
  })
})

test('a new connection begins empty, whatever one that was forgotten left behind', async () => {
  await using proxy = await openBetween(false)
  const { kit } = proxy
  await kit.storage.replica.apply('fake', [stray('left')], 500)
  await connect(proxy, 'fake.example', 'open sesame')
  await proxy.until(async () => (await proxy.service()).status === 'connected')
  expect((await proxy.service()).replica_entries).toBe(0)
})

test('of two who connect at once the credentials are those of whose settings are stored', async () => {
  for (const known of [false, true]) {
    await using proxy = await openBetween(known)
    const { between } = proxy
    let second = ''
    between.keeping = async () => {
      second = await settled(connect(proxy, 'second.example', 'the second password'))
    }
    const first = await settled(connect(proxy, 'first.example', 'the first password'))
    expect([first, second].toSorted()).toEqual(['Conflict', 'done'])
    const owner = first === 'done' ? 'first' : 'second'
    expect((await rowOf(proxy)).settings_json).toContain(`${owner}.example`)
    expect(await passwordOf(proxy)).toBe(`the ${owner} password`)
  }
})

test('who connects after another one did is refused before any credential is kept', async () => {
  await using proxy = await openBetween()
  const { kit, between } = proxy
  between.forgetting = () => settled(connect(proxy, 'elsewhere.example', 'another password'))
  await disconnect(proxy, false)
  const row = await rowOf(proxy)
  const kept = (await kit.app.listSecrets(kit.operator())).map(({ name }) => name)
  expect([row.status, row.secrets, kept]).toEqual(['disconnected', [], []])
  await connect(proxy, 'elsewhere.example', 'another password')
  expect(await passwordOf(proxy)).toBe('another password')
})

test('a sync of everything that is asked for as a service is connected anew refuses nobody', async () => {
  await using proxy = await openBetween()
  const { kit, between } = proxy
  between.keeping = () => kit.app.syncService(kit.operator(), { name: 'fake', full: true })
  await connect(proxy, 'fake.example', 'another password')
  expect(await passwordOf(proxy)).toBe('another password')
  await proxy.until(async () => (await rowOf(proxy)).status === 'connected')
})
