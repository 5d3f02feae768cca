import type { BufferedWrite, ConnectService, ProxyService } from '@gatehouse/contract'
import { createKit, type Kit, type KitOptions } from '@gatehouse/testkit'
import {
  type FakeConnection,
  FakeServer,
  fakeAdapter,
  memoryLink,
} from '@gatehouse/testkit/fake-service'
import { until } from '@gatehouse/testkit/until'
import { z } from 'zod'
import { defineCapability } from '../../src/capabilities/define.ts'
import type { WriteTicket } from '../../src/ports/agent-services.ts'
import type { JsonObject } from '../../src/ports/json.ts'
import type { ServiceAdapter } from '../../src/ports/service-adapter.ts'

const ticket = z.object({
  write_id: z.string(),
  service: z.string(),
  operation: z.string(),
  status: z.string(),
  execute_at: z.string(),
  undo_until: z.string().nullable(),
  undo_note: z.string(),
})

/** One capability for each operation of the fake, as a group for mail or calendars would have them. */
const buffering = (operation: string, inputs: z.ZodObject) =>
  defineCapability({
    title: 'Test',
    name: `fake.${operation}`,
    version: '1.0',
    purpose: `Try ${operation}.`,
    when_to_use: 'In tests.',
    inputs: inputs.extend({ service: z.string().optional() }),
    outputs: ticket,
    tier: 'autonomous',
    effect: 'buffered',
    side_effects: [{ what: 'a change at the fake', reversible: false }],
    errors: ['ServiceNotFound', 'ServiceAmbiguous'],
    async resolve({ service: name }, ctx) {
      const service = await ctx.services.open('fake', name as string | undefined)
      return { service: service.name }
    },
    async run(ctx, { service: name, ...args }) {
      const service = await ctx.services.open('fake', name as string | undefined)
      return service.buffer({ operation, arguments: args as JsonObject })
    },
  })

const place = { collection: z.string().default('things'), id: z.string() }
const search = defineCapability({
  title: 'Test',
  name: 'fake.search',
  version: '1.0',
  purpose: 'Search the replica.',
  when_to_use: 'In tests.',
  inputs: z.strictObject({ words: z.string().default(''), service: z.string().optional() }),
  outputs: z.object({ ids: z.array(z.string()), total: z.int(), status: z.string() }),
  tier: 'autonomous',
  effect: 'none',
  errors: [],
  async run(ctx, { words, service: name }) {
    const service = await ctx.services.open('fake', name)
    const query = { words, order: 'oldest_first', limit: 100, offset: 0 } as const
    const { entries, total } = await service.query(query)
    return { ids: entries.map(({ id }) => id), total, status: service.freshness.status }
  },
})

export const fakeCapabilities = [
  buffering('put', z.strictObject({ ...place, value: z.string(), private: z.string().optional() })),
  buffering('remove', z.strictObject(place)),
  buffering('send', z.strictObject({ text: z.string() })),
  buffering('blind', z.strictObject({ text: z.string() })),
  search,
]

export const fakeService: ConnectService = {
  kind: 'fake',
  settings: {},
  secrets: { password: 'open sesame' },
  agents: ['*'],
}

export type ProxyKit = AsyncDisposable & {
  readonly kit: Kit
  readonly server: FakeServer
  readonly opened: readonly FakeConnection[]
  /** Has the agent buffer a write. */
  buffer(operation: string, args: object, agent?: string): Promise<WriteTicket>
  write(id: string): Promise<BufferedWrite>
  service(name?: string): Promise<ProxyService>
  /** Waits, in real time, until the condition holds. */
  readonly until: typeof until
  /** Moves the clock, and waits until the write stands so. */
  finalized(id: string, status: string, moveMs?: number): Promise<BufferedWrite>
  /** The acts on record about writes, oldest first. */
  acts(prefix?: string): Promise<string[]>
}

export async function openProxyKit(
  options: KitOptions & {
    readonly adapter?: (adapter: ServiceAdapter<FakeConnection>) => ServiceAdapter
    readonly connects?: boolean
  } = {},
): Promise<ProxyKit> {
  const server = new FakeServer()
  const opened: FakeConnection[] = []
  const plain = fakeAdapter(memoryLink(server), { opened })
  const adapter: ServiceAdapter = options.adapter?.(plain) ?? plain
  const kit = await createKit({
    ...options,
    capabilities: fakeCapabilities,
    adapters: new Map([['fake', adapter]]),
    settings: { 'proxy.burst_limit': 1_000_000, ...options.settings },
  })
  await kit.agent('alpha')
  await kit.agent('beta')
  const service = async (name = 'fake') => {
    const { services } = await kit.app.showProxy(kit.operator())
    const found = services.find((one) => one.name === name)
    if (!found) throw new Error(`there is no service ${name}`)
    return found
  }
  if (options.connects ?? true) {
    await kit.app.connectService(kit.operator(), fakeService)
    await until(async () => (await service()).status === 'connected')
  }
  const write = async (id: string) => {
    const { writes } = await kit.app.listWrites(kit.operator(), { limit: 1000, offset: 0 })
    const found = writes.find((one) => one.id === id)
    if (!found) throw new Error(`there is no write ${id}`)
    return found
  }
  return {
    kit,
    server,
    opened,
    service,
    write,
    until,
    async buffer(operation, args, agent = 'alpha') {
      const outcome = await kit.invoke(agent, `fake.${operation}`, args)
      if (outcome.kind !== 'succeeded') throw new Error(JSON.stringify(outcome))
      return outcome.data as unknown as WriteTicket
    },
    async finalized(id, status, moveMs = 30_000) {
      kit.clock.move(moveMs)
      await until(async () => (await write(id)).status === status)
      return write(id)
    },
    async acts(prefix = 'write.') {
      const entries = await kit.audit()
      return entries
        .map(({ capability }) => capability)
        .filter((name) => name.startsWith(prefix))
        .toReversed()
    },
    [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose](),
  }
}
