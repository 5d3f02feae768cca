import { createKit, type Kit } from '@gatehouse/testkit'
import { CountedIds } from '@gatehouse/testkit/counted-ids'
import { until } from '@gatehouse/testkit/until'
import {
  type McpSubscription,
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { describe, expect, test } from 'vitest'
import { outboundWith } from '../../src/outbound/testing.ts'
import { type Gateway, openGateway } from '../../src/transport/gateway/open-gateway.ts'
import { KeptLog } from '../kit/kept-log.ts'
import { openHttpSession, openPeer } from '../kit/speakers.ts'
import { type WatchedServer, watchedServers } from './watched-server.ts'

const first = 'upstream://notes/notes://first'
const second = 'upstream://notes/notes://second'

/** Members of what the gate declares that say what it tells of lists. */
type Declared = {
  readonly prompts?: { readonly listChanged?: boolean | undefined } | undefined
  readonly resources?: { readonly listChanged?: boolean | undefined } | undefined
}

/** A client that hears of resources and lists. Subscribing fails where the gate does not take it. */
type Hearer = AsyncDisposable & {
  subscribe(uri: string): Promise<void>
  unsubscribe(uri: string): Promise<void>
  /** Addresses that it was told have changed, in their order. */
  readonly told: string[]
  /** The same of lists. */
  readonly lists: string[]
  readonly declared: Declared
  listPrompts(): Promise<unknown>
}

const info = { name: 'hearer', version: '1.0.0' }

const transportOptions = (token: string) => ({
  requestInit: { headers: { Authorization: `Bearer ${token}` } },
})

const openLegacy = async (gateway: Gateway, token: string): Promise<Hearer> => {
  const client = new Client(info)
  const told: string[] = []
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    told.push(params.uri)
  })
  const lists: string[] = []
  client.setNotificationHandler(PromptListChangedNotificationSchema, () => {
    lists.push('prompts')
  })
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => {
    lists.push('resources')
  })
  const transport = new StreamableHTTPClientTransport(
    new URL(`${gateway.url}/mcp`),
    transportOptions(token),
  )
  await client.connect(transport as never)
  return {
    ...{ told, lists, declared: client.getServerCapabilities() ?? {} },
    listPrompts: () => client.listPrompts(),
    subscribe: async (uri) => void (await client.subscribeResource({ uri })),
    unsubscribe: async (uri) => void (await client.unsubscribeResource({ uri })),
    async [Symbol.asyncDispose]() {
      // One that has ended already is not there any more.
      await transport.terminateSession().catch(() => {})
      await client.close()
    },
  }
}

const openModern = async (gateway: Gateway, token: string): Promise<Hearer> => {
  const told: string[] = []
  const lists: string[] = []
  const heard = (list: string) => ({
    autoRefresh: false,
    debounceMs: 0,
    onChanged: () => void lists.push(list),
  })
  const client = new ModernClient(info, {
    versionNegotiation: { mode: { pin: '2026-07-28' } },
    listChanged: { prompts: heard('prompts'), resources: heard('resources') },
  })
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    told.push(params.uri)
  })
  await client.connect(new ModernTransport(new URL(`${gateway.url}/mcp`), transportOptions(token)))
  const streams = new Map<string, McpSubscription>()
  return {
    ...{ told, lists, declared: client.getServerCapabilities() ?? {} },
    listPrompts: () => client.listPrompts(undefined, { cacheMode: 'bypass' }),
    async subscribe(uri) {
      const stream = await client.listen({ resourceSubscriptions: [uri] })
      if (!stream.honoredFilter.resourceSubscriptions?.includes(uri))
        throw new Error(`${uri} is not honoured`)
      streams.set(uri, stream)
    },
    unsubscribe: async (uri) => await streams.get(uri)?.close(),
    async [Symbol.asyncDispose]() {
      await Promise.all([...streams.values()].map((stream) => stream.close()))
      await client.close()
    },
  }
}

const openWebSocket = async (gateway: Gateway, token: string): Promise<Hearer> => {
  const peer = await openPeer(gateway, token)
  const told: string[] = []
  const opened = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info }
  const { result } = await peer.request('initialize', opened)
  const lists: string[] = []
  peer.ws.on('message', (data: Buffer) => {
    const { method, params } = JSON.parse(data.toString())
    if (method === 'notifications/resources/updated') told.push(params.uri)
    const [, list] = /^notifications\/(prompts|resources)\/list_changed$/.exec(method) ?? []
    if (list !== undefined) lists.push(list)
  })
  const ask = async (method: string, uri: string) => {
    const { error } = await peer.request(method, { uri })
    if (error) throw new Error(`${error.code}: ${error.message}`)
  }
  return {
    ...{ told, lists, declared: result?.['capabilities'] as Declared },
    listPrompts: () => peer.request('prompts/list', {}),
    subscribe: (uri) => ask('resources/subscribe', uri),
    unsubscribe: (uri) => ask('resources/unsubscribe', uri),
    async [Symbol.asyncDispose]() {
      peer.ws.close()
      await peer.end()
    },
  }
}

const clients = {
  'the SDK up to 2025-11-25': openLegacy,
  'the SDK of 2026-07-28': openModern,
  'a WebSocket': openWebSocket,
}

const combined = Object.entries(clients).flatMap(([client, open]) =>
  (['legacy', 'modern'] as const).map((era) => ({ client, open, era })),
)

type Setting = AsyncDisposable & {
  readonly kit: Kit
  readonly notes: WatchedServer
  readonly gateway: Gateway
  readonly token: string
  rules(...rules: readonly string[]): Promise<void>
}

const openSetting = async (era: keyof typeof watchedServers): Promise<Setting> => {
  const notes = await watchedServers[era]()
  const kit = await createKit({
    outbound: outboundWith({ privateTargets: [new URL(notes.url).host] }),
  })
  const token = await kit.agent('alpha')
  const { digest } = await kit.app.addUpstream(kit.operator(), {
    name: 'notes',
    server: { kind: 'http', url: notes.url },
    grants: { folders: [], hosts: [], environment: {} },
    credentials: {},
    per_agent: true,
    dry_run: false,
  })
  await kit.app.acceptUpstream(kit.operator(), { name: 'notes', digest })
  const rules = async (...given: readonly string[]) => {
    const text = `version: 1\nrules:\n${given.map((rule) => `  - {${rule}}`).join('\n')}\n`
    expect((await kit.parts.policy.save({ text })).problems).toEqual([])
  }
  await rules('match: notes.*, tier: autonomous')
  const gateway = await openGateway({
    ...{ host: '127.0.0.1', port: 0, app: kit.app, ids: new CountedIds(), log: new KeptLog() },
    ...{ version: '0.0.0', allowedHosts: [], allowedOrigins: [] },
  })
  return {
    ...{ kit, notes, gateway, token, rules },
    async [Symbol.asyncDispose]() {
      await gateway.close(0)
      await kit[Symbol.asyncDispose]()
      await notes[Symbol.asyncDispose]()
    },
  }
}

/** Between two notices of the same resource, or list. */
const paceMs = 1_000

/** Lets some steps of time pass, with what follows from each. */
const pass = async (kit: Kit, steps = 2): Promise<void> => {
  for (let step = 0; step < steps; step += 1) {
    kit.clock.move(paceMs)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Lets time pass until it holds. */
const moved = (kit: Kit, holds: () => boolean, stepMs = paceMs) =>
  until(() => {
    if (holds()) return true
    kit.clock.move(stepMs)
    return false
  })

describe.each(combined)('$client, a server of the $era era', ({ open, era }) => {
  test('a client is told of changes of what it subscribed to, as long as it wants', async () => {
    await using setting = await openSetting(era)
    const { kit, notes, gateway, token } = setting
    await using client = await open(gateway, token)
    await client.subscribe(first)
    await client.subscribe(second)
    expect(notes.subscribed().toSorted()).toEqual(['notes://first', 'notes://second'])
    notes.change('notes://second')
    notes.change('notes://first')
    await until(() => client.told.length === 2)
    expect(client.told.toSorted()).toEqual([first, second])

    await client.unsubscribe(second)
    await until(() => !notes.subscribed().includes('notes://second'))
    kit.clock.move(paceMs)
    notes.change('notes://second')
    notes.change('notes://first')
    await until(() => client.told.length === 3)
    expect(client.told.at(-1)).toBe(first)

    const calls = await kit.audit({ capability: 'notes.read_resource' })
    expect(calls.filter(({ result }) => result === 'success')).toHaveLength(2)
    expect(notes.reads).toEqual(['notes://first', 'notes://second'])
    const [entry] = await kit.audit({ capability: 'upstream.subscribed' })
    expect(entry).toMatchObject({
      agent: 'alpha',
      arguments: { name: 'notes', uri: 'notes://second' },
    })
  })

  test('all of it ends with the session of the client', async () => {
    await using setting = await openSetting(era)
    const { notes, gateway, token } = setting
    {
      await using client = await open(gateway, token)
      await client.subscribe(first)
      expect(notes.subscribed()).toEqual(['notes://first'])
    }
    await until(() => notes.subscribed().length === 0)
  })

  test('policy decides on it as on a read, at first and later', async () => {
    await using setting = await openSetting(era)
    const { kit, notes, gateway, token, rules } = setting
    const others = 'match: notes.*, tier: autonomous'
    const only = (tier: string) =>
      rules(
        `match: notes.read_resource, tier: ${tier}, when: 'args.uri == "notes://first"'`,
        others,
      )
    await only('blocked')
    await using client = await open(gateway, token)
    await expect(client.subscribe(first)).rejects.toThrow()
    await only('approval_required')
    await expect(client.subscribe(first)).rejects.toThrow()
    expect(notes.subscribed()).toEqual([])
    const asked = { status: 'pending', limit: 10, offset: 0 } as const
    const [waiting] = (await kit.app.listApprovals(kit.operator(), asked)).approvals
    await kit.decide(String(waiting?.id), 'approve')
    await kit.resolved('alpha', String(waiting?.id))
    await client.subscribe(first)
    await client.subscribe(second)
    await only('blocked')
    notes.change('notes://first')
    notes.change('notes://second')
    await until(() => !notes.subscribed().includes('notes://first'))
    await until(() => client.told.length === 1)
    expect(client.told).toEqual([second])
  })

  test('a subscription outlives its server, and the client is told once that it may have missed something', async () => {
    await using setting = await openSetting(era)
    const { kit, notes, gateway, token } = setting
    await using client = await open(gateway, token)
    await client.subscribe(first)
    const renewed = async (told: number) => {
      await moved(kit, () => client.told.length === told)
      expect(notes.subscribed()).toEqual(['notes://first'])
      await pass(kit)
    }
    await kit.app.restartUpstream(kit.operator(), { name: 'notes' })
    await renewed(1)
    notes.restart()
    await renewed(2)
    notes.setAway(true)
    await moved(kit, () => notes.missed() > 0)
    notes.setAway(false)
    await renewed(3)
    notes.change('notes://first')
    await until(() => client.told.length === 4)
    expect(client.told).toEqual([first, first, first, first])
    expect(await kit.audit({ capability: 'upstream.subscribed' })).toHaveLength(1)
  })

  test('a subscription ends with its server where that was removed, or offers no changes any more', async () => {
    await using setting = await openSetting(era)
    const { kit, notes, gateway, token } = setting
    await using client = await open(gateway, token)
    await client.subscribe(first)
    await kit.app.removeUpstream(kit.operator(), { name: 'notes' })
    await until(() => notes.subscribed().length === 0)
    await expect(client.subscribe(first)).rejects.toThrow()
    await pass(kit, 10)
    expect([client.told, notes.subscribed()]).toEqual([[], []])
  })

  test('a client is told that prompts and resources have changed, as it was promised', async () => {
    await using setting = await openSetting(era)
    const { kit, notes, gateway, token, rules } = setting
    await using client = await open(gateway, token)
    const { prompts, resources } = client.declared
    expect([prompts?.listChanged, resources?.listChanged]).toEqual([true, true])
    await client.listPrompts()
    for (let i = 0; i < 100; i += 1) notes.changeList('prompts')
    await until(() => client.lists.length === 1)
    notes.changeList('resources')
    await until(() => client.lists.length === 2)
    expect(client.lists).toEqual(['prompts', 'resources'])
    // Those of one second are one.
    await moved(kit, () => client.lists.length === 3)
    expect(client.lists.pop()).toBe('prompts')
    // By policy the list of prompts is empty now.
    await rules('match: notes.list_prompts, tier: blocked', 'match: notes.*, tier: autonomous')
    await until(() => client.lists.length === 3)
    expect(client.lists.at(-1)).toBe('prompts')
    notes.changeList('prompts')
    notes.changeList('resources')
    await moved(kit, () => client.lists.length === 4)
    expect(client.lists.at(-1)).toBe('resources')
  })

  test('a client is told once of lists that may have changed while there was no connection', async () => {
    await using setting = await openSetting(era)
    const { kit, gateway, token } = setting
    await using client = await open(gateway, token)
    await client.listPrompts()
    expect(client.lists).toEqual([])
    await kit.app.restartUpstream(kit.operator(), { name: 'notes' })
    await client.listPrompts()
    await until(() => client.lists.length === 2)
    expect(client.lists.toSorted()).toEqual(['prompts', 'resources'])
  })
})

describe.each(['legacy', 'modern'] as const)('a server of the %s era', (era) => {
  type Told = { changes: number; ends: number; takes: boolean }
  const watchIn = async ({ kit }: Setting, agent = 'alpha', uri = first) => {
    const told: Told = { changes: 0, ends: 0, takes: true }
    const outcome = await kit.app.watchResource(
      kit.op(agent),
      { uri },
      {
        changed() {
          told.changes += 1
          return told.takes
        },
        ended: () => void (told.ends += 1),
      },
    )
    if (outcome.kind !== 'watched') throw new Error(`it was ${outcome.kind}`)
    return { told, end: () => outcome[Symbol.dispose]() }
  }

  test('changes in quick succession are told as one, and told again where nobody took it', async () => {
    await using setting = await openSetting(era)
    const { kit, notes } = setting
    const { told } = await watchIn(setting)
    const { told: witness } = await watchIn(setting, 'alpha', second)
    for (let i = 0; i < 500; i += 1) notes.change('notes://first')
    notes.change('notes://second')
    await until(() => witness.changes === 1)
    expect(told.changes).toBe(1)
    told.takes = false
    kit.clock.move(paceMs)
    await until(() => told.changes === 2)
    told.takes = true
    kit.clock.move(paceMs)
    await until(() => told.changes === 3)
    kit.clock.move(paceMs)
    notes.change('notes://second')
    await until(() => witness.changes === 2)
    expect(told.changes).toBe(3)
  })

  test('an agent hears of a bounded number of resources, and the server is asked once for each', async () => {
    await using setting = await openSetting(era)
    const { kit, notes } = setting
    await kit.agent('beta')
    const all = await Promise.all(Array.from({ length: 100 }, () => watchIn(setting)))
    expect(notes.subscribed()).toEqual(['notes://first'])
    await expect(watchIn(setting)).rejects.toMatchObject({ type: 'QuotaExceeded' })
    await watchIn(setting, 'beta')
    all.pop()?.end()
    await watchIn(setting)
    for (const { end } of all) end()
    notes.change('notes://first')
    expect(notes.subscribed()).toContain('notes://first')
  })

  test('a connection stays open while somebody hears of a resource over it', async () => {
    await using setting = await openSetting(era)
    const { kit, notes } = setting
    await kit.agent('beta')
    const { end } = await watchIn(setting)
    await kit.run('beta', 'notes.list_resources')
    const open = async () =>
      (await kit.app.showUpstream(kit.operator(), { name: 'notes' })).upstream.connections
    expect(await open()).toBe(2)
    const idle = async (connections: number) => {
      while ((await open()) > connections) {
        kit.clock.move(60_000)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    await idle(1)
    expect(notes.subscribed()).toEqual(['notes://first'])
    end()
    await idle(0)
  })

  test('a revoked agent hears nothing more', async () => {
    await using setting = await openSetting(era)
    const { kit, notes, gateway, token } = setting
    const { told } = await watchIn(setting)
    await using client = await openWebSocket(gateway, token)
    await client.subscribe(second)
    await kit.app.revokeAgent(kit.operator(), { name: 'alpha' })
    await until(() => told.ends === 1)
    await until(() => notes.subscribed().length === 0)
    expect([told.changes, client.told]).toEqual([0, []])
    const { upstream } = await kit.app.showUpstream(kit.operator(), { name: 'notes' })
    expect(upstream.connections).toBe(0)
  })
})

test('a server up to 2025-11-25 is told that its session is over', async () => {
  await using setting = await openSetting('legacy')
  const { kit, notes } = setting
  // Those that it was looked at in are over.
  expect(notes.sessions()).toBe(0)
  await kit.run('alpha', 'notes.list_resources')
  expect(notes.sessions()).toBe(1)
  await kit.app.restartUpstream(kit.operator(), { name: 'notes' })
  expect(notes.sessions()).toBe(0)
})

test('a call that a server refuses because it has forgotten the session is made once more', async () => {
  await using setting = await openSetting('legacy')
  const { kit, notes } = setting
  const read = () => kit.run('alpha', 'notes.read_resource', { uri: 'notes://first' })
  await read()
  notes.forget()
  await Promise.all([read(), read()])
  expect(notes.reads).toHaveLength(3)
  const calls = await kit.audit({ capability: 'notes.read_resource' })
  expect(calls.filter(({ result }) => result === 'success')).toHaveLength(3)
  expect(calls.filter(({ result }) => result === 'error')).toEqual([])
  notes.setAway(true)
  const failed = await kit.invoke('alpha', 'notes.read_resource', { uri: 'notes://first' })
  expect(failed).toMatchObject({ kind: 'failed', error: { type: 'UpstreamFailed' } })
  notes.setAway(false)
  await read()
})

test('a server over HTTP+SSE is the last resort: used, heard, and connected to again', async () => {
  await using setting = await openSetting('sse')
  const { kit, notes, gateway, token } = setting
  const read = () => kit.invoke('alpha', 'notes.read_resource', { uri: 'notes://first' })
  expect(await read()).toMatchObject({ kind: 'succeeded' })
  await using client = await openWebSocket(gateway, token)
  await client.subscribe(first)
  notes.change('notes://first')
  await until(() => client.told.length === 1)
  await pass(kit)
  notes.restart()
  await moved(kit, () => client.told.length === 2)
  expect(notes.subscribed()).toEqual(['notes://first'])
  expect(await read()).toMatchObject({ kind: 'succeeded' })
  notes.forget()
  // The call that finds the session gone may fail, and none after it.
  await read()
  expect(await read()).toMatchObject({ kind: 'succeeded' })
})

test('a session that ends by itself hears nothing more', async () => {
  await using setting = await openSetting('legacy')
  const { kit, notes, gateway, token } = setting
  const { post } = await openHttpSession(gateway, token)
  const asked = { id: 1, method: 'resources/subscribe', params: { uri: first } }
  expect(await (await post(asked)).json()).toMatchObject({ result: {} })
  expect(notes.subscribed()).toEqual(['notes://first'])
  await moved(kit, () => notes.subscribed().length === 0, 60_000)
})

describe.each(Object.entries(clients))('%s', (_name, open) => {
  test('is promised nothing of a server that tells of no changes, and subscribes to nothing', async () => {
    await using setting = await openSetting('silent')
    const { kit, notes, gateway, token, rules } = setting
    await using client = await open(gateway, token)
    await expect(client.subscribe(first)).rejects.toThrow()
    expect(notes.reads).toEqual([])
    expect(client.declared).toMatchObject({ prompts: {}, resources: {} })
    expect(client.declared.prompts?.listChanged).toBeUndefined()
    expect(client.declared.resources?.listChanged).toBeUndefined()
    const told: string[] = []
    using _told = kit.app.subscribeEvents('alpha', ({ type }) => told.push(type) > 0)
    await rules('match: notes.list_prompts, tier: blocked')
    await until(() => told.includes('prompts.changed') && told.includes('tools.changed'))
    await client.listPrompts().catch(() => {})
    expect(client.lists).toEqual([])
  })
})
