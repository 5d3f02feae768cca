import type { RollbackStore, StoredRollback } from '../../ports/writes.ts'
import { type Access, compareText } from './state.ts'

const newestFirst = (a: StoredRollback, b: StoredRollback): number =>
  b.created_ms - a.created_ms || compareText(b.id, a.id)

const where = (state: Access['state'], keep: (point: StoredRollback) => boolean) =>
  [...state().rollbacks.values()].filter(keep)

const captures = ({ state, write }: Access): Pick<RollbackStore, 'putCapture' | 'capture'> => ({
  putCapture: (writeId, captureJson) =>
    write(({ captures }) => void captures.set(writeId, captureJson)),

  capture: async (writeId) => state().captures.get(writeId) ?? null,
})

const points = ({
  state,
  write,
}: Access): Pick<
  RollbackStore,
  'put' | 'find' | 'ofWrite' | 'ofWrites' | 'replace' | 'removeOfWrite'
> => ({
  put: (point) =>
    write(({ rollbacks }) => {
      for (const { id, write_id } of [...rollbacks.values()])
        if (write_id === point.write_id) rollbacks.delete(id)
      rollbacks.set(point.id, { ...point })
    }),

  find: async (id) => state().rollbacks.get(id) ?? null,

  ofWrite: async (writeId) => where(state, ({ write_id }) => write_id === writeId)[0] ?? null,

  ofWrites: async (writeIds) => where(state, ({ write_id }) => writeIds.includes(write_id)),

  replace: (current, next) =>
    write(({ rollbacks }) => {
      const stored = rollbacks.get(current.id)
      if (stored?.status !== current.status || stored.owner !== current.owner) return false
      const { id, write_id, service, operation, agent, created_ms } = stored
      rollbacks.set(id, { ...next, id, write_id, service, operation, agent, created_ms })
      return true
    }),

  removeOfWrite: (writeId) =>
    write(({ rollbacks }) => {
      for (const { id, write_id } of [...rollbacks.values()])
        if (write_id === writeId) rollbacks.delete(id)
    }),
})

const overviews = ({ state }: Access): Pick<RollbackStore, 'listLost' | 'list' | 'counts'> => ({
  listLost: async ({ owner, nowMs }) =>
    where(
      state,
      (p) =>
        p.status === 'rolling_back' &&
        ((p.lease_ms !== null && p.lease_ms <= nowMs) ||
          (owner !== undefined && p.owner === owner)),
    )
      .toSorted((a, b) => compareText(a.id, b.id))
      .slice(0, 1_000),

  async list({ service, statuses, limit, offset }) {
    const found = where(
      state,
      ({ status, service: of }) =>
        status !== 'pending' &&
        (service === undefined || of === service) &&
        (statuses === undefined || statuses.includes(status)),
    ).toSorted(newestFirst)
    return { points: found.slice(offset, offset + limit), total: found.length }
  },

  async counts() {
    const counts = new Map<string, number>()
    for (const { service } of where(state, ({ status }) => status === 'ready'))
      counts.set(service, (counts.get(service) ?? 0) + 1)
    return counts
  },
})

const removals = ({ write }: Access): Pick<RollbackStore, 'expire' | 'removeOfService'> => ({
  expire: (wallMs) =>
    write(({ rollbacks, captures }) => {
      for (const point of [...rollbacks.values()]) {
        const ends = point.status === 'ready' || point.status === 'refused'
        if (!ends || point.expires_ms > wallMs) continue
        rollbacks.set(point.id, { ...point, status: 'expired' })
        captures.delete(point.write_id)
      }
    }),

  removeOfService: (service) =>
    write(({ rollbacks, captures }) => {
      for (const point of [...rollbacks.values()]) {
        if (point.service !== service) continue
        rollbacks.delete(point.id)
        captures.delete(point.write_id)
      }
    }),
})

export const memoryRollbacks = (access: Access): RollbackStore => ({
  ...captures(access),
  ...points(access),
  ...overviews(access),
  ...removals(access),
})
