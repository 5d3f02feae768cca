import { GatehouseError } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { AgentService, AgentServices, AgentWrites } from '../../ports/agent-services.ts'
import type { JsonObject } from '../../ports/json.ts'
import type { FetchedPart } from '../../ports/service-adapter.ts'
import type { StoredService } from '../../ports/services.ts'
import type { StoredWrite } from '../../ports/writes.ts'
import type { Call } from '../call/call.ts'
import { TimeUp, within } from '../call/within.ts'
import { bufferWrite } from './buffer-write.ts'
import { cancelWrite, listWrites, recordOf } from './change-write.ts'
import type { ProxyDeps } from './deps.ts'
import { failureText } from './failure-text.ts'
import { previewRollback } from './preview-rollback.ts'
import { rollback } from './rollback.ts'

const freshness = ({ name, status, last_sync_ms }: StoredService) => ({
  service: name,
  status,
  last_sync: last_sync_ms === null ? null : new Date(last_sync_ms).toISOString(),
})

const serves = ({ agents }: StoredService, agent: string): boolean =>
  agents.includes('*') || agents.includes(agent)

type PartOf = {
  readonly collection: string
  readonly id: string
  readonly part: string
  readonly bytesMax: number
}

/** The service stays open until the content is read, or whoever reads it stops. */
async function fetchPart(
  deps: ProxyDeps,
  { op }: Call,
  service: StoredService,
  part: PartOf,
): Promise<FetchedPart> {
  const hold = deps.opened.hold(service)
  const failed = (cause: unknown): GatehouseError => {
    if (cause instanceof GatehouseError) return cause
    hold.broken()
    const detail = failureText(deps, cause)
    return new GatehouseError('ServiceUnavailable', { service: service.name, detail }, { cause })
  }
  async function* content(of: FetchedPart): AsyncGenerator<Uint8Array> {
    try {
      yield* of.content
    } catch (cause) {
      throw failed(cause)
    } finally {
      hold.release()
    }
  }
  try {
    const { adapter } = hold
    const opened = await hold.opened
    if (!adapter.fetchPart)
      throw new GatehouseError('PartNotFound', { ...part, service: service.name })
    const found = await adapter.fetchPart(opened, part, op.signal)
    return { ...found, content: content(found) }
  } catch (cause) {
    hold.release()
    throw failed(cause)
  }
}

const opened = (deps: ProxyDeps, call: Call, service: StoredService): AgentService => {
  const { replica } = deps.storage
  const { name } = service
  return {
    name,
    kind: service.kind,
    settings: parseStored<JsonObject>(service.settings_json, 'services.settings_json'),
    freshness: freshness(service),
    query: (query) => replica.query(name, query),
    find: (key) => replica.find(name, key),
    findByKey: (key) => replica.findByKey(name, key),
    collections: (flag) => replica.collections(name, flag),
    part: (part, bytesMax) => fetchPart(deps, call, service, { ...part, bytesMax }),
    buffer: (write) => bufferWrite(deps, call, service, write),
  }
}

/**
 * The services an agent may use; those of others do not exist for it. The one that is opened is noted for the log.
 * @SECURITY Who is not named has no access, whatever policy lets it call; test/proxy/connect.test.ts.
 */
export const servicesOf = (
  deps: ProxyDeps,
  call: Call,
  noted: (facts: Readonly<Record<string, unknown>>) => void,
): AgentServices => {
  const agent = call.agent.name
  const mine = async (kind: string): Promise<readonly StoredService[]> =>
    (await deps.storage.services.list()).filter(
      (service) =>
        service.kind === kind && service.status !== 'disconnected' && serves(service, agent),
    )
  return {
    list: async (kind) => (await mine(kind)).map(freshness),
    async open(kind, name) {
      const services = await mine(kind)
      const [only, ...others] = name ? services.filter((s) => s.name === name) : services
      if (!only) throw new GatehouseError('ServiceNotFound', { service: name ?? kind, agent })
      if (others.length > 0)
        throw new GatehouseError('ServiceAmbiguous', {
          services: services.map((service) => service.name).join(', '),
        })
      noted({ service: only.name })
      return opened(deps, call, only)
    },
  }
}

/** A person waits for what a preview shows, and so does the caller. */
const planSeconds = 10

const notBuffered = (write_id: string, status: string): GatehouseError =>
  new GatehouseError('WriteNotBuffered', {
    write_id,
    status,
    detail: 'only what has not begun can be cancelled',
  })

/** An agent's own writes. @SECURITY Others' are not there for it; test/proxy/writes.test.ts. */
export const writesOf = (deps: ProxyDeps, call: Call): AgentWrites => {
  const agent = call.agent.name
  const own = async (write_id: string): Promise<StoredWrite> => {
    const write = await deps.storage.writes.find(write_id)
    if (write?.agent !== agent) throw new GatehouseError('WriteNotFound', { write_id })
    return write
  }
  return {
    list: (filter) => listWrites(deps, { ...filter, agent }),
    find: async (write_id) => recordOf(deps, await own(write_id)),
    async planRollback(write_id, signal) {
      const { service } = await own(write_id)
      try {
        return await within(deps.clock, planSeconds, signal, (until) =>
          previewRollback(deps, { write_id, agent }, until),
        )
      } catch (cause) {
        if (!(cause instanceof TimeUp)) throw cause
        throw new GatehouseError(
          'ServiceUnavailable',
          { service, detail: cause.message },
          { cause },
        )
      }
    },
    async cancel(write_id) {
      const { kind, write } = await cancelWrite(call.op, deps, { write_id, agent })
      if (kind === 'conflict') throw notBuffered(write_id, write.status)
      return write
    },
    async rollback(write_id) {
      await rollback(call.op, deps, { write_id, agent })
      return recordOf(deps, await own(write_id))
    },
  }
}
