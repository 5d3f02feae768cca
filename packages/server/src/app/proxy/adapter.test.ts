import {
  describeServiceAdapter,
  FakeServer,
  fakeAdapter,
  memoryLink,
} from '@gatehouse/testkit/fake-service'
import { HandClock, silent } from '../../log/testing.ts'
import { createIds } from '../../platform/ids.ts'
import type { ServiceConnection } from '../../ports/service-adapter.ts'

// The suite that real adapters pass is passed by the fake too: what is proven on it holds for them.
describeServiceAdapter('the fake', async () => {
  const server = new FakeServer()
  const ids = createIds()
  for (const n of [1, 2, 3, 4]) server.put('things', `t${n}`, `thing ${n}`)
  const connectionWith = (password: string): ServiceConnection => ({
    service: 'fake',
    settings: { address: 'fake.example' },
    secrets: ['password'],
    secret: (_name, _host, work) => work(password),
    clock: new HandClock(),
    log: silent,
  })
  let added = 0
  return {
    adapter: fakeAdapter(memoryLink(server)),
    connection: connectionWith('open sesame'),
    wrong: { connection: connectionWith('close sesame'), secret: 'close sesame' },
    writeId: () => ids.next('wr'),
    snapshot: async () => ({ values: server.values(), outbox: [...server.outbox] }),
    samples: async () => [
      { operation: 'put', arguments: { collection: 'things', id: 't1', value: 'new' } },
      { operation: 'remove', arguments: { collection: 'things', id: 't2' } },
      { operation: 'send', arguments: { text: 'hello' } },
      { operation: 'blind', arguments: { text: 'hello' } },
    ],
    interfere: async ({ arguments: args }) => {
      server.put(String(args['collection']), String(args['id']), `meanwhile ${(added += 1)}`)
    },
    add: async () => {
      server.put('things', `more ${(added += 1)}`, 'more')
    },
    reachable: async (yes) => {
      server.fault = () => (yes ? null : 'refuse')
    },
    async [Symbol.asyncDispose]() {},
  }
})
