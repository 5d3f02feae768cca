import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createKit, type Kit, type KitOptions } from '@gatehouse/testkit'
import { silent } from '../../src/log/testing.ts'
import {
  type Gateway,
  type GatewayOptions,
  openGateway,
} from '../../src/transport/gateway/open-gateway.ts'
import type { GatewayLimits } from '../../src/transport/http/limits.ts'

const policy = `version: 1
rules:
  - { match: filesystem.append, tier: approval_required }
`

/** The arguments of the call that a person is asked about. */
export const line = { path: 'log.txt', content: 'one\n' }

/** The agent `alpha`, whose calls of `filesystem.append` wait for a person, and its empty log. */
export type Appends = {
  readonly kit: Kit
  readonly token: string
  open(
    limits?: Partial<GatewayLimits>,
    options?: Partial<Pick<GatewayOptions, 'ids' | 'page'>>,
  ): Promise<Gateway>
  /** Approves a request and waits until it has run. */
  approve(id: string): Promise<void>
  content(): string
}

export const openAppends = async (
  approvals: 'pending' | 'hold',
  options: KitOptions = {},
): Promise<Appends> => {
  const kit = await createKit({ policy, ...options })
  const token = await kit.agent('alpha', approvals)
  const log = join(kit.workspace('alpha'), line.path)
  mkdirSync(kit.workspace('alpha'), { recursive: true })
  writeFileSync(log, '')
  return {
    kit,
    token,
    open: (limits = {}, given = {}) =>
      openGateway({
        host: '127.0.0.1',
        port: 0,
        app: kit.app,
        ids: { next: (prefix) => `${prefix}-${'0'.repeat(26)}` },
        log: silent,
        version: '1.0.0',
        allowedHosts: [],
        allowedOrigins: [],
        limits,
        ...given,
      }),
    async approve(id) {
      await kit.decide(id, 'approve')
      await kit.resolved('alpha', id)
    },
    content: () => readFileSync(log, 'utf8'),
  }
}
