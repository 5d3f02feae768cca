import type { BufferedWrite, ConnectService } from '@gatehouse/contract'
import type { ServiceAdapter } from '@gatehouse/server/ports/service-adapter'
import { createKit, failureIn, type Kit } from '@gatehouse/testkit'
import { until } from '@gatehouse/testkit/until'

/** Agents may do everything with a group, so that tests speak of what it does. */
/** Without the limit of a new install: tests ask again and again, by a clock that stands still. */
export const freely = (group: string): string => `version: 1
rules:
  - { match: "${group}.*", tier: autonomous }
limits:
  - { match: "${group}.*", limit: 100000, window: 1m }
`

/** A gateway with one service, of which alpha may see all and beta nothing. */
export abstract class ServiceKit implements AsyncDisposable {
  readonly kit: Kit
  /** Of the capabilities that agents reach the service with. */
  abstract readonly group: string

  constructor(kit: Kit) {
    this.kit = kit
  }

  /** Waits for the first sync. */
  protected static async connected(
    adapter: ServiceAdapter,
    connect: Pick<ConnectService, 'settings' | 'secrets'>,
    policy: string,
  ): Promise<Kit> {
    const { kind } = adapter
    const kit = await createKit({
      policy,
      adapters: new Map([[kind, adapter]]),
      settings: { 'proxy.burst_limit': 1_000_000 },
    })
    for (const name of ['alpha', 'beta']) await kit.agent(name)
    await kit.app.connectService(kit.operator(), { kind, ...connect, agents: ['alpha'] })
    const stands = async () => (await kit.app.showProxy(kit.operator())).services[0]?.status
    await until(async () => (await stands()) === 'connected')
    return kit
  }

  async service() {
    const { services } = await this.kit.app.showProxy(this.kit.operator())
    const [service] = services
    if (!service) throw new Error('there is no service')
    return service
  }

  protected invoke(capability: string, args: object, agent: string) {
    return this.kit.invoke(agent, `${this.group}.${capability}`, args)
  }

  /** Answer of a call; a failed one throws its error. */
  async call(capability: string, args: object = {}, agent = 'alpha') {
    const outcome = await this.invoke(capability, args, agent)
    if (outcome.kind === 'succeeded') return outcome.data
    throw Object.assign(new Error(JSON.stringify(outcome)), { failure: failureIn(outcome) })
  }

  /** The type of the error that a call fails with, or how else it came out. */
  async failure(capability: string, args: object, agent = 'alpha'): Promise<string> {
    const outcome = await this.invoke(capability, args, agent)
    return failureIn(outcome)?.type ?? outcome.kind
  }

  async write(id: unknown): Promise<BufferedWrite> {
    const page = { limit: 1_000, offset: 0 }
    const { writes } = await this.kit.app.listWrites(this.kit.operator(), page)
    const found = writes.find((one) => one.id === id)
    if (!found) throw new Error(`there is no write ${String(id)}`)
    return found
  }

  /** Lets the write's time come, and waits until it stands so. */
  async finalized(id: unknown, status: string, moveMs = 60_000): Promise<BufferedWrite> {
    this.kit.clock.move(moveMs)
    await until(async () => (await this.write(id)).status === status)
    return this.write(id)
  }

  /** Reads what is new. */
  async sync(): Promise<void> {
    const { name, last_sync } = await this.service()
    this.kit.clock.move(1)
    await this.kit.app.syncService(this.kit.operator(), { name, full: false })
    await until(async () => (await this.service()).last_sync !== last_sync)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kit[Symbol.asyncDispose]()
  }
}
