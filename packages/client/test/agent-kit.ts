import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { silent } from '@gatehouse/server/log/testing'
import { type Gateway, openGateway } from '@gatehouse/server/transport/gateway/open-gateway'
import { createKit, type Kit } from '@gatehouse/testkit'
import { Gatehouse, type GatehouseOptions } from '../src/index.ts'
import { Wire } from './wire.ts'

export const transports = ['http', 'websocket'] as const
export type Way = (typeof transports)[number]

const policy = `version: 1
rules:
  - { match: filesystem.append, tier: autonomous }
  - { match: filesystem.write, tier: approval_required }
  - { match: filesystem.mkdir, tier: blocked, reason: Folders are made by people }
limits:
  - { match: system.time, limit: 2, window: 1m }
`

/** The agent `alpha` in TypeScript, before a real service, over a wire that can break. */
export class AgentKit implements AsyncDisposable {
  readonly kit: Kit
  readonly token: string
  readonly gateway: Gateway
  readonly wire: Wire
  readonly #agents: Gatehouse[] = []

  static async open(): Promise<AgentKit> {
    const kit = await createKit({ policy })
    const token = await kit.agent('alpha')
    mkdirSync(kit.workspace('alpha'), { recursive: true })
    const gateway = await openGateway({
      host: '127.0.0.1',
      port: 0,
      app: kit.app,
      ids: kit.parts.ids,
      log: silent,
      version: '1.0.0',
      allowedHosts: [],
      allowedOrigins: [],
    })
    return new AgentKit(kit, token, gateway, await Wire.open(gateway.port))
  }

  private constructor(kit: Kit, token: string, gateway: Gateway, wire: Wire) {
    this.kit = kit
    this.token = token
    this.gateway = gateway
    this.wire = wire
  }

  agent(transport: Way, options: GatehouseOptions = {}): Gatehouse {
    const agent = new Gatehouse({ url: this.wire.url, token: this.token, transport, ...options })
    this.#agents.push(agent)
    return agent
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.kit.workspace('alpha'), name), text)
  }

  read(name: string): string | null {
    const file = join(this.kit.workspace('alpha'), name)
    return existsSync(file) ? readFileSync(file, 'utf8') : null
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of this.#agents) await agent.close()
    await this.wire[Symbol.asyncDispose]()
    await this.gateway.close(0)
    await this.kit[Symbol.asyncDispose]()
  }
}
