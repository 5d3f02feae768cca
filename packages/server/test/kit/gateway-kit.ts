import { setMaxListeners } from 'node:events'
import { createKit, type Kit, type KitOptions } from '@gatehouse/testkit'
import { CountedIds } from '@gatehouse/testkit/counted-ids'
import { until } from '@gatehouse/testkit/until'
import { type WatchedApp, watchApp } from '@gatehouse/testkit/watched-app'
import {
  type Gateway,
  type GatewayOptions,
  openGateway,
} from '../../src/transport/gateway/open-gateway.ts'
import { KeptLog } from './kept-log.ts'
import { TestCapabilities } from './test-capabilities.ts'

/** Tokens of the agents that there are. Of `crowded` and `paused` see `GatewayKit`. */
export const tokens = {
  alpha: 'a'.repeat(64),
  beta: 'b'.repeat(64),
  crowded: '1'.repeat(64),
  paused: '2'.repeat(64),
} as const

export type TestAgent = keyof typeof tokens

const policy = `version: 1
rules:
  - { match: test.blocked, tier: blocked, reason: Policy says no. }
  - { match: test.erase, tier: approval_required }
  - { match: "test.*", tier: autonomous }
  - { match: "*", tier: blocked }
limits:
  - { match: "test.*", limit: 100000, window: 1m }
  - { match: test.limited, limit: 1, window: 1m }
`

/** What an agent may use by this policy, by the names of MCP: the first five are nobody's to block. */
export const testTools = [
  ...['agent__whoami', 'approvals__cancel', 'approvals__get', 'approvals__list', 'approvals__wait'],
  ...['test__crash', 'test__echo', 'test__erase', 'test__fail', 'test__limited'],
  ...['test__poll', 'test__unrecorded', 'test__wait', 'test__wait_large'],
]

/** The first answer to `test.erase`, under the name by which it was called. */
export const pending = (name: 'test.erase' | 'test__erase') => ({
  status: 'pending_approval',
  approval_id: 'appr-00000000000000000000000001',
  capability: 'test.erase',
  message: `${name} waits for a person to approve it. Wait with ${name.replace('test', 'approvals').replace('erase', 'wait')}, or make the same call again later.`,
  expires_at: '2026-01-02T00:00:18.000Z',
})

const longPollsMax = 64

/** A gateway on a free port before a whole service, whose capabilities are those of these tests. */
export class GatewayKit implements AsyncDisposable {
  readonly kit: Kit
  readonly capabilities: TestCapabilities
  readonly log: KeptLog
  readonly #gateway: Gateway
  readonly #watched: WatchedApp
  readonly #crowd = new AbortController()
  #ended: Promise<void> | null = null

  constructor(made: {
    kit: Kit
    capabilities: TestCapabilities
    log: KeptLog
    gateway: Gateway
    watched: WatchedApp
  }) {
    this.kit = made.kit
    this.capabilities = made.capabilities
    this.log = made.log
    this.#gateway = made.gateway
    this.#watched = made.watched
  }

  get url(): string {
    return this.#gateway.url
  }
  get mcpUrl(): string {
    return this.#gateway.mcpUrl
  }
  get port(): number {
    return this.#gateway.port
  }
  /** What ran, in order. */
  get ran() {
    return this.capabilities.ran
  }
  get waiting() {
    return this.capabilities.waiting
  }
  get memory() {
    return this.kit.app.memory
  }

  connections(): number {
    return this.#gateway.connections()
  }

  /** Use cases that have begun and not ended. */
  underWay(): number {
    return this.#watched.underWay()
  }

  /** Connections that are told of events. */
  listeners(): number {
    return this.#watched.listeners()
  }

  emit(agent: TestAgent, type: string, data: Record<string, unknown> = {}): void {
    this.kit.parts.events.publish({ type, agent, data })
  }

  /** What is on record of the sessions of an agent, the oldest first. */
  async sessions(agent: TestAgent) {
    return (await this.kit.storage.sessions.listOf(agent, 100)).toReversed()
  }

  revoke(agent: TestAgent): Promise<unknown> {
    return this.kit.app.revokeAgent(this.kit.operator(), { name: agent })
  }

  /** Another node does it: no event tells this one, which looks for changes now and then. */
  async revokeElsewhere(agent: TestAgent): Promise<void> {
    const { agents } = this.kit.storage
    const current = await agents.find(agent)
    if (!current) throw new Error(`there is no ${agent}`)
    const next = { ...current, status: 'revoked', generation: current.generation + 1 } as const
    await agents.replace(current, next)
    const { credential } = this.kit.op(agent).actor
    this.kit.clock.move(2_000)
    await until(() => !this.kit.app.stillValid(agent, credential))
  }

  /** From now on `crowded` waits in so many calls that it may begin no other. */
  async crowd(): Promise<void> {
    const before = this.waiting.length
    // Each of them listens to the one signal that ends them all.
    setMaxListeners(0, this.#crowd.signal)
    for (let i = 0; i < longPollsMax; i += 1)
      void this.kit.invoke('crowded', 'test.poll', {}, { signal: this.#crowd.signal })
    await until(() => this.waiting.length === before + longPollsMax)
    this.waiting.length = before
    this.ran.length = 0
  }

  /** Ends the gateway and the service behind it, once. */
  close(graceMs: number): Promise<void> {
    this.#ended ??= this.#close(graceMs)
    return this.#ended
  }

  async #close(graceMs: number): Promise<void> {
    await this.#gateway.close(graceMs)
    this.#crowd.abort()
    await this.kit[Symbol.asyncDispose]()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close(0)
  }
}

const openService = async (log: KeptLog, options: Pick<KitOptions, 'memory'>) => {
  const capabilities = new TestCapabilities()
  const kit = await createKit({
    ...options,
    log,
    policy,
    capabilities: capabilities.all,
    ids: new CountedIds(Object.values(tokens).map((token) => Buffer.from(token, 'hex'))),
    // As where other nodes have the same store, and may change agents.
    ports: (name, port) =>
      name === 'storage' ? { ...port, isShared: true, isNetworked: true } : port,
  })
  for (const name of Object.keys(tokens)) await kit.agent(name)
  await kit.app.pauseAgent(kit.operator(), { name: 'paused' })
  await kit.invoke('alpha', 'test.limited')
  kit.clock.move(18_000)
  capabilities.ran.length = 0
  return { kit, capabilities, watched: watchApp(kit.app) }
}

export const openKit = async ({
  memory,
  ...options
}: Partial<GatewayOptions> & Pick<KitOptions, 'memory'> = {}): Promise<GatewayKit> => {
  const log = new KeptLog()
  const service = await openService(log, memory ? { memory } : {})
  const gateway = await openGateway({
    host: '127.0.0.1',
    port: 0,
    app: service.watched.app,
    ids: new CountedIds(),
    log,
    version: '9.9.9',
    allowedHosts: [],
    allowedOrigins: [],
    ...options,
  })
  return new GatewayKit({ ...service, log, gateway })
}
