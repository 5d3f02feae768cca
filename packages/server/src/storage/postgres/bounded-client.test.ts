import { once } from 'node:events'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'
import { startPostgres } from '@gatehouse/testkit'
import { afterAll, describe, expect, test } from 'vitest'
import { openPostgres } from './open.ts'
import { createDatabase } from './testing.ts'

const server = await startPostgres()
const missing = 'missing' in server ? server.missing : null
const serverUrl = 'url' in server ? server.url : ''
afterAll(async () => {
  if ('stop' in server) await server.stop()
})

/** Long enough for a busy machine to answer in. */
const answerMs = 15_000

/** Opened once before, so that no statement of a bounded opening has much to do. */
const createOpened = async () => {
  const database = await createDatabase(serverUrl)
  await (await openPostgres({ url: database.url }))[Symbol.asyncDispose]()
  return database
}

/** A way to the database that can fall silent, as a network does that drops packets: nothing is closed, and nothing comes. */
const openWay = async (url: string) => {
  const to = new URL(url)
  const port = Number(to.port)
  const sockets = new Set<Socket>()
  let isSilent = false
  const listener = createServer((near) => {
    const far = dial(port, '127.0.0.1')
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => into.destroy())
      from.on('close', () => into.destroy())
      from.on('data', (bytes) => {
        if (!isSilent) into.write(bytes)
      })
    }
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  to.port = String((listener.address() as AddressInfo).port)
  return {
    url: to.href,
    become: (silent: boolean) => {
      isSilent = silent
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      listener.close()
      await once(listener, 'close')
    },
  }
}

describe.skipIf(missing !== null)(
  `a database that falls silent${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    test('is said not to answer, by every kind of connection, and is used again when it does', async () => {
      await using database = await createOpened()
      await using way = await openWay(database.url)
      await using storage = await openPostgres({ url: way.url, answerMs })
      let clockMs = 0
      const uses = {
        read: () => storage.meta.get('key'),
        write: () => storage.transaction((tx) => tx.meta.set('key', 'value')),
        time: () => storage.wallMs(),
        group: async () =>
          storage.record({
            ...{ chain: 'node-a', rows: [], stamps: [] },
            ...{ agentCounts: new Map(), sessionCounts: new Map(), clockMs: ++clockMs },
          }),
        limit: async () => storage.limits.take([{ key: 'k', limit: 9, window_ms: 60_000 }], 1),
      }
      const all = () => Promise.allSettled(Object.values(uses).map((use) => use()))
      expect((await all()).map(({ status }) => status)).toEqual(Array(5).fill('fulfilled'))
      way.become(true)
      const silent = {
        type: 'StorageUnavailable',
        facts: { detail: 'PostgreSQL: it does not answer' },
      }
      expect(await all()).toMatchObject(Array(5).fill({ status: 'rejected', reason: silent }))
      way.become(false)
      await expect
        .poll(async () => (await all()).map(({ status }) => status))
        .toEqual(Array(5).fill('fulfilled'))
    })

    test('does not keep the store from being closed', async () => {
      await using database = await createOpened()
      await using way = await openWay(database.url)
      const storage = await openPostgres({ url: way.url, answerMs })
      way.become(true)
      await expect(storage[Symbol.asyncDispose]()).resolves.toBeUndefined()
    })
  },
)
