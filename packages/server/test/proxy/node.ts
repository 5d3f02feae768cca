import { join } from 'node:path'
import type { ConnectService } from '@gatehouse/contract'
import { fakeAdapter } from '@gatehouse/testkit/fake-service/fake-adapter'
import type { FakeLink } from '@gatehouse/testkit/fake-service/fake-link'
import { AgentDirectory } from '../../src/app/agents/agent-directory.ts'
import type { Call } from '../../src/app/call/call.ts'
import { bindProxy, type Proxy } from '../../src/app/proxy/proxy.ts'
import { openAuditLog } from '../../src/log/audit-log.ts'
import { silent } from '../../src/log/testing.ts'
import { createClock } from '../../src/platform/clock.ts'
import { createDigest } from '../../src/platform/digest.ts'
import { createEventBus } from '../../src/platform/event-bus.ts'
import { createIds } from '../../src/platform/ids.ts'
import type { StoredAgent } from '../../src/ports/agents.ts'
import type { AuditReader } from '../../src/ports/audit.ts'
import type { JsonObject } from '../../src/ports/json.ts'
import type { PolicySource } from '../../src/ports/policy.ts'
import type { ServiceAdapter } from '../../src/ports/service-adapter.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { openSqlite } from '../../src/storage/sqlite/open.ts'

const agent: StoredAgent = {
  name: 'mailbot' as StoredAgent['name'],
  purpose: '',
  status: 'active',
  approvals: 'pending',
  workspace: '/nowhere',
  site: null,
  mounts: [],
  tools: [],
  limits: [],
  created_ms: 0,
  last_connected_ms: null,
  total_invocations: 0,
  token_hash: 'a'.repeat(64),
  token_ms: 0,
  previous_token_hash: null,
  previous_until_ms: null,
  generation: 1,
}

export type ProxyNode = AsyncDisposable & {
  readonly proxy: Proxy
  readonly storage: Storage
  readonly audit: Pick<AuditReader, 'verify' | 'query'>
  /** Buffers a write that is due at once. */
  buffer(operation: string, args: JsonObject): Promise<string>
}

/** In place of the fake. */
export type RealService = { readonly adapter: ServiceAdapter; readonly connect: ConnectService }

const realOf = (link: FakeLink | RealService): RealService =>
  'adapter' in link
    ? link
    : {
        adapter: fakeAdapter(link, { pageSize: 100 }),
        connect: {
          kind: 'fake',
          settings: {},
          secrets: { password: 'open sesame' },
          agents: ['*'],
        },
      }

/** The proxy on a store of its own with a real clock, and nothing else: quick to start and to kill. */
export async function openNode(
  folder: string,
  link: FakeLink | RealService,
  {
    node = 'node',
    opens,
  }: { readonly node?: string; readonly opens?: () => Promise<Storage> } = {},
): Promise<ProxyNode> {
  const { adapter, connect } = realOf(link)
  const { kind } = connect
  const storage = await (opens?.() ?? openSqlite({ file: join(folder, 'gatehouse.db') }))
  const clock = createClock(await storage.clock.read())
  const [ids, digest, log] = [createIds(), createDigest(), silent]
  const auditLog = await openAuditLog({
    ...{ storage, ids, clock, log },
    directory: join(folder, `audit-${node}`),
    chain: node,
  })
  const events = createEventBus({ ids, clock, log, gates: null })
  const basics = { storage, auditLog, clock, ids, digest, events, log }
  const stopping = new AbortController()
  const allowed = { current: () => ({ listed: () => 'autonomous' }) } as unknown as PolicySource
  const proxy = bindProxy({
    ...basics,
    adapters: new Map([[kind, adapter]]),
    secrets: {
      use: (_use, work) => work(connect.secrets['password'] ?? ''),
      keepForService: async () => {},
      forgetForService: async () => {},
      scrub: (value) => value,
    },
    settings: {
      'proxy.delays': new Map(adapter.operations.map(({ name }) => [`${kind}.${name}`, 0])),
      'proxy.sync_every': 3_600_000,
      'proxy.rollback_kept': 72 * 3_600_000,
      'proxy.burst_limit': 1_000_000,
      'proxy.burst_window': 1_000,
    },
    directory: new AgentDirectory({ ...basics, files: { note: () => {} } }),
    policy: allowed,
    runsApproved: true,
    node,
    signal: stopping.signal,
  })
  const op = {
    actor: { kind: 'agent', name: agent.name, credential: 1 },
    request_id: 'req-1',
    session_id: null,
    signal: stopping.signal,
  } as const
  if (!(await storage.agents.find(agent.name))) {
    await storage.agents.insert(agent)
    await proxy.useCases.connectService({ ...op, actor: { kind: 'system' } }, connect)
  }
  const call = { op, agent, capability: { name: `${kind}.write` } } as unknown as Call
  await proxy.start()
  return {
    proxy,
    storage,
    audit: auditLog,
    async buffer(operation, args) {
      const service = await proxy.servicesOf(call, () => {}).open(kind)
      return (await service.buffer({ operation, arguments: args })).write_id
    },
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await proxy.stopped()
      await auditLog[Symbol.asyncDispose]()
      await storage[Symbol.asyncDispose]()
    },
  }
}
