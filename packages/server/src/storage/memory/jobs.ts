import { GatehouseError } from '@gatehouse/contract'
import type { JobStore, StoredJob } from '../../ports/jobs.ts'
import { type Access, compareText } from './state.ts'

const longestDueFirst = (a: StoredJob, b: StoredJob): number =>
  a.due_ms - b.due_ms || compareText(a.id, b.id)

const where = (state: Access['state'], keep: (job: StoredJob) => boolean) =>
  [...state().jobs.values()].filter(keep).toSorted(longestDueFirst)

const claims = ({ state, write }: Access): Pick<JobStore, 'claim' | 'nextDue'> => ({
  claim: ({ kinds, owner, dueMs, leaseMs, limit }) =>
    write(({ jobs }) =>
      [...jobs.values()]
        .filter((j) => j.state === 'waiting' && j.due_ms <= dueMs && kinds.includes(j.kind))
        .toSorted(longestDueFirst)
        .slice(0, limit)
        .map((job) => {
          const running: StoredJob = {
            ...job,
            state: 'running',
            owner,
            lease_ms: leaseMs,
            started_ms: dueMs,
            attempts: job.attempts + 1,
          }
          jobs.set(job.id, running)
          return running
        }),
    ),

  nextDue: async (kinds) =>
    where(state, (j) => j.state === 'waiting' && kinds.includes(j.kind))[0]?.due_ms ?? null,
})

const leases = ({ state, write }: Access): Pick<JobStore, 'renew' | 'replace' | 'listLost'> => ({
  renew: (ids, owner, lease_ms) =>
    write(({ jobs }) => {
      for (const id of ids) {
        const job = jobs.get(id)
        if (job?.state === 'running' && job.owner === owner) jobs.set(id, { ...job, lease_ms })
      }
    }),

  replace: (current, next) =>
    write(({ jobs }) => {
      const stored = jobs.get(current.id)
      if (
        stored?.state !== current.state ||
        stored.owner !== current.owner ||
        stored.attempts !== current.attempts
      )
        return false
      const { id, kind, subject, agent, payload_json } = stored
      jobs.set(id, { ...next, id, kind, subject, agent, payload_json })
      return true
    }),

  listLost: async ({ owner, nowMs, limit }) =>
    where(
      state,
      (j) =>
        j.state === 'running' &&
        ((j.lease_ms !== null && j.lease_ms <= nowMs) ||
          (owner !== undefined && j.owner === owner)),
    ).slice(0, limit),
})

const records = ({
  state,
  write,
}: Access): Pick<JobStore, 'insert' | 'find' | 'listOf' | 'cancelOf' | 'prune'> => ({
  insert: (job) =>
    write(({ jobs }) => {
      if (jobs.has(job.id))
        throw new GatehouseError('Conflict', { detail: `job ${job.id} is there` })
      jobs.set(job.id, { ...job })
    }),

  find: async (id) => state().jobs.get(id) ?? null,

  async listOf(subject, { limit, offset }) {
    const found = where(state, (j) => j.subject === subject).toReversed()
    return { jobs: found.slice(offset, offset + limit), total: found.length }
  },

  cancelOf: (subject, finished_ms) =>
    write(({ jobs }) => {
      const waiting = [...jobs.values()].filter(
        (j) => j.subject === subject && j.state === 'waiting',
      )
      for (const job of waiting) jobs.set(job.id, { ...job, state: 'cancelled', finished_ms })
      return waiting.length
    }),

  prune: (endedBeforeMs, trim) =>
    write(({ jobs }) => {
      const ended = [...jobs.values()].filter((j) => j.finished_ms !== null)
      for (const job of ended) if ((job.finished_ms ?? 0) < endedBeforeMs) jobs.delete(job.id)
      if (!trim) return
      const ofSubject = ended.filter((j) => j.subject === trim.subject && jobs.has(j.id))
      for (const job of ofSubject.toSorted(longestDueFirst).toReversed().slice(trim.keep))
        jobs.delete(job.id)
    }),
})

export const memoryJobs = (access: Access): JobStore => ({
  ...claims(access),
  ...leases(access),
  ...records(access),
})
