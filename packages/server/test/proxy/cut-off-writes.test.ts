import { join } from 'node:path'
import {
  type FakeConnection,
  FakeServer,
  fakeAdapter,
  memoryLink,
} from '@gatehouse/testkit/fake-service'
import { makeTemporaryFolder } from '@gatehouse/testkit/temporary-folder'
import { expect, test } from 'vitest'
import type { ServiceAdapter } from '../../src/ports/service-adapter.ts'
import { openSqlite } from '../../src/storage/sqlite/open.ts'
import { fakeService, openProxyKit } from './kit.ts'
import { openNode } from './node.ts'

/** An adapter that says of a write that it took place, which nothing at the service shows, and hangs over what comes after. */
const hangingAfterwards = (adapter: ServiceAdapter<FakeConnection>) => {
  let hangs = () => {}
  const hung = new Promise<void>((resolve) => {
    hangs = resolve
  })
  const operations = adapter.operations.map((operation) => ({
    ...operation,
    execute: (...[, write, , , executed]: Parameters<typeof operation.execute>): Promise<never> => {
      executed({ receipt: write.id })
      hangs()
      return new Promise(() => {})
    },
  }))
  return { adapter: { ...adapter, operations }, hung }
}

test('what the service has taken counts as executed, although what comes after it takes too long', async () => {
  let hung = Promise.resolve()
  await using proxy = await openProxyKit({
    adapter(plain) {
      const hanging = hangingAfterwards(plain)
      hung = hanging.hung
      return hanging.adapter
    },
  })
  const { write_id } = await proxy.buffer('blind', { text: 'x' })
  proxy.kit.clock.move(30_000)
  await hung
  proxy.kit.clock.move(20_000)
  await proxy.until(async () => (await proxy.write(write_id)).status !== 'executing')
  expect(await proxy.write(write_id)).toMatchObject({
    status: 'executed',
    result: { receipt: write_id },
    dead_letter: false,
  })
  expect(await proxy.acts()).toEqual(['write.buffered', 'write.started', 'write.executed'])
})

test('what the service has taken counts as executed, although this one stops before what comes after it', async () => {
  const folder = makeTemporaryFolder()
  const { adapter, hung } = hangingAfterwards(fakeAdapter(memoryLink(new FakeServer())))
  let write_id = ''
  {
    await using node = await openNode(folder, { adapter, connect: fakeService })
    write_id = await node.buffer('blind', { text: 'x' })
    await hung
  }
  await using storage = await openSqlite({ file: join(folder, 'gatehouse.db') })
  expect(await storage.writes.find(write_id)).toMatchObject({ status: 'executed', dead: false })
})
