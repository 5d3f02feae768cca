import { GatehouseError } from '@gatehouse/contract'
import type { Secrets } from '../../ports/secrets.ts'
import type { UpstreamHost } from '../../ports/upstream.ts'
import type { UpstreamLogins } from '../../ports/upstream-login.ts'
import type { Basics } from '../call/basics.ts'
import type { ShowDeps } from './show-upstream.ts'
import { readRow, type UpstreamRecord } from './stored.ts'
import type { ToolTable } from './tool-table.ts'

export type UpstreamDeps = Pick<
  Basics,
  'storage' | 'auditLog' | 'clock' | 'ids' | 'log' | 'digest'
> &
  ShowDeps & {
    readonly host: UpstreamHost
    readonly logins: UpstreamLogins
    readonly table: ToolTable
    readonly secrets: Pick<Secrets, 'use' | 'keepForService' | 'forgetForService'>
  }

export async function findUpstream(
  { storage }: Pick<UpstreamDeps, 'storage'>,
  name: string,
): Promise<UpstreamRecord> {
  const row = await storage.upstreams.find(name)
  if (!row) throw new GatehouseError('UpstreamNotFound', { upstream: name.slice(0, 100) })
  return readRow(row)
}
