import { GatehouseError } from '@gatehouse/contract'
import type { StoredWrite, WriteCounts, WriteStore } from '../../ports/writes.ts'
import { type Access, compareText } from './state.ts'

const longestDueFirst = (a: StoredWrite, b: StoredWrite): number =>
  a.due_ms - b.due_ms || compareText(a.id, b.id)
const newestFirst = (a: StoredWrite, b: StoredWrite): number =>
  b.buffered_ms - a.buffered_ms || compareText(b.id, a.id)

const isPending = (status: string): boolean => status === 'buffered' || status === 'executing'

/** What a write is about stays; the rest is as in `next`. */
const changed = (stored: StoredWrite, next: StoredWrite): StoredWrite => {
  const { id, service, kind, operation, agent, capability, session_id, request_id } = stored
  const { arguments_json, files_json, buffered_ms } = stored
  return {
    ...next,
    ...{ id, service, kind, operation, agent, capability, session_id, request_id },
    ...{ arguments_json, files_json, buffered_ms },
  }
}

const where = (state: Access['state'], keep: (write: StoredWrite) => boolean) =>
  [...state().writes.values()].filter(keep).toSorted(longestDueFirst)

const claims = ({ state, write }: Access): Pick<WriteStore, 'claim' | 'nextDue'> => ({
  claim: ({ services, owner, dueMs, leaseMs, limit }) =>
    write(({ writes }) =>
      [...writes.values()]
        .filter((w) => w.status === 'buffered' && w.due_ms <= dueMs && services.includes(w.service))
        .toSorted(longestDueFirst)
        .slice(0, limit)
        .map((found) => {
          const claimed: StoredWrite = {
            ...found,
            status: 'executing',
            phase: 'capturing',
            owner,
            lease_ms: leaseMs,
            attempts: found.attempts + 1,
          }
          writes.set(found.id, claimed)
          return claimed
        }),
    ),

  nextDue: async (services) =>
    where(state, (w) => w.status === 'buffered' && services.includes(w.service))[0]?.due_ms ?? null,
})

const leases = ({ state, write }: Access): Pick<WriteStore, 'replace' | 'listLost'> => ({
  replace: (current, next) =>
    write(({ writes }) => {
      const stored = writes.get(current.id)
      const same = ['status', 'phase', 'owner', 'attempts', 'dead'] as const
      if (!stored || same.some((field) => stored[field] !== current[field])) return false
      writes.set(current.id, changed(stored, next))
      return true
    }),

  listLost: async ({ owner, nowMs, limit }) =>
    where(
      state,
      (w) =>
        w.status === 'executing' &&
        ((w.lease_ms !== null && w.lease_ms <= nowMs) ||
          (owner !== undefined && w.owner === owner)),
    ).slice(0, limit),
})

const records = ({
  state,
  write,
}: Access): Pick<WriteStore, 'insert' | 'find' | 'files' | 'prune'> => ({
  insert: (stored, files) =>
    write(({ writes, writeFiles }) => {
      if (writes.has(stored.id))
        throw new GatehouseError('Conflict', { detail: `write ${stored.id} is there` })
      writes.set(stored.id, { ...stored })
      writeFiles.set(stored.id, [...files])
    }),

  find: async (id) => state().writes.get(id) ?? null,

  files: async (id) => state().writeFiles.get(id) ?? [],

  prune: (endedBeforeMs) =>
    write(({ writes, writeFiles, captures }) => {
      for (const { id, finished_ms, dead } of [...writes.values()]) {
        if (finished_ms === null || dead) continue
        writeFiles.delete(id)
        if (finished_ms >= endedBeforeMs) continue
        writes.delete(id)
        captures.delete(id)
      }
    }),
})

const overviews = ({ state }: Access): Pick<WriteStore, 'list' | 'counts' | 'listBuffered'> => ({
  async list({ statuses, agent, service, dead, limit, offset }) {
    const found = where(
      state,
      (w) =>
        (statuses === undefined || statuses.includes(w.status)) &&
        (agent === undefined || w.agent === agent) &&
        (service === undefined || w.service === service) &&
        (dead === undefined || w.dead === dead),
    )
    const byDue = statuses?.every(isPending) ?? false
    const sorted = byDue ? found : found.toSorted(newestFirst)
    return { writes: sorted.slice(offset, offset + limit), total: found.length }
  },

  async counts() {
    const counts = new Map<string, WriteCounts>()
    for (const { service, status, dead } of state().writes.values()) {
      if (!isPending(status) && !dead) continue
      const known = counts.get(service) ?? { buffered: 0, dead: 0 }
      counts.set(service, {
        buffered: known.buffered + (isPending(status) ? 1 : 0),
        dead: known.dead + (dead ? 1 : 0),
      })
    }
    return counts
  },

  listBuffered: async (of) =>
    where(
      state,
      (w) =>
        w.status === 'buffered' &&
        ('service' in of ? w.service === of.service : w.agent === of.agent),
    ).slice(0, 1_000),
})

export const memoryWrites = (access: Access): WriteStore => ({
  ...claims(access),
  ...leases(access),
  ...records(access),
  ...overviews(access),
})
