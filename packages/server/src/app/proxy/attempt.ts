import { parseStored } from '../../domain/parse-stored.ts'
import type { ServiceWrite } from '../../ports/service-adapter.ts'
import type { StoredWrite } from '../../ports/writes.ts'
import type { ProxyDeps } from './deps.ts'

/** Beyond what the steps of an attempt may take together. */
const leaseMarginMs = 60_000

/** How long a step may hold a write before another node takes it for lost. */
export const leaseAfter = (deps: ProxyDeps, seconds: number): number =>
  deps.clock.now() + seconds * 1000 + leaseMarginMs

/** A write as its operation sees it, the same at each attempt. */
export const serviceWriteOf = async (
  deps: ProxyDeps,
  write: StoredWrite,
): Promise<ServiceWrite> => ({
  id: write.id,
  operation: write.operation,
  agent: write.agent,
  arguments: parseStored(write.arguments_json, 'writes.arguments_json'),
  files: await deps.storage.writes.files(write.id),
})
