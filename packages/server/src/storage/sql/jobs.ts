import type { Kysely } from 'kysely'
import type { Claim, JobStore, StoredJob } from '../../ports/jobs.ts'
import { first, page } from './queries.ts'
import { rowCodec, text, textOrNull } from './row-codec.ts'
import type { Db, JobsTable, Tables } from './tables.ts'
import { encodeText } from './text.ts'

const { toRow, fromRow } = rowCodec<StoredJob, JobsTable>('jobs', {
  subject: text,
  agent: text,
  payload_json: text,
  outcome_json: textOrNull,
})

const waiting = (
  db: Pick<Kysely<Tables>, 'selectFrom'>,
  { kinds, awaySites }: Pick<Claim, 'kinds' | 'awaySites'>,
) => {
  const all = db.selectFrom('jobs').where('state', '=', 'waiting').where('kind', 'in', kinds)
  if (awaySites.length === 0) return all
  const away = db.selectFrom('agents').select('name').where('site', 'in', awaySites.map(encodeText))
  return all.where('agent', 'not in', away)
}

const claims = ({ read, write }: Db): Pick<JobStore, 'claim' | 'nextDue'> => ({
  async claim({ owner, dueMs, leaseMs, limit, ...wanted }) {
    // @SECURITY One statement picks and takes; sqlite.test.ts.
    const rows = await write
      .with('due', (db) =>
        waiting(db, wanted)
          .select('id')
          .where('due_ms', '<=', dueMs)
          .orderBy('due_ms')
          .orderBy('id')
          .limit(limit)
          .forUpdate()
          .skipLocked(),
      )
      .updateTable('jobs')
      .set((eb) => ({
        state: 'running',
        owner,
        lease_ms: leaseMs,
        started_ms: dueMs,
        attempts: eb('attempts', '+', 1),
      }))
      .where('id', 'in', (eb) => eb.selectFrom('due').select('due.id'))
      .where('state', '=', 'waiting')
      .returningAll()
      .execute()
    return rows.map(fromRow).toSorted((a, b) => a.due_ms - b.due_ms || (a.id < b.id ? -1 : 1))
  },

  async nextDue(wanted) {
    const row = await waiting(read, wanted)
      .select('due_ms')
      .orderBy('due_ms')
      .limit(1)
      .executeTakeFirst()
    return row?.due_ms ?? null
  },
})

/** Work that one owner has taken. */
const leases = ({ read, write }: Db): Pick<JobStore, 'renew' | 'replace' | 'listLost'> => ({
  async renew(ids, owner, leaseMs) {
    if (ids.length === 0) return
    await write
      .updateTable('jobs')
      .set({ lease_ms: leaseMs })
      .where('id', 'in', ids)
      .where('state', '=', 'running')
      .where('owner', '=', owner)
      .execute()
  },

  async replace(current, next) {
    const { id, kind, subject, agent, payload_json, ...changed } = toRow(next)
    const { numUpdatedRows } = await write
      .updateTable('jobs')
      .set(changed)
      .where('id', '=', current.id)
      .where('state', '=', current.state)
      .where('owner', 'is not distinct from', current.owner)
      .where('attempts', '=', current.attempts)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async listLost({ owner, nowMs, limit }) {
    const rows = await read
      .selectFrom('jobs')
      .selectAll()
      .where('state', '=', 'running')
      .where((eb) =>
        eb.or([eb('lease_ms', '<=', nowMs), ...(owner ? [eb('owner', '=', owner)] : [])]),
      )
      .orderBy('due_ms')
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map(fromRow)
  },
})

const records = ({
  read,
  write,
}: Db): Pick<JobStore, 'insert' | 'find' | 'listOf' | 'cancelOf' | 'prune'> => ({
  async insert(job) {
    await write.insertInto('jobs').values(toRow(job)).execute()
  },

  find: (id) =>
    first(read.selectFrom('jobs').selectAll().where('id', '=', encodeText(id)), fromRow),

  async listOf(subject, { limit, offset }) {
    const matching = read.selectFrom('jobs').where('subject', '=', encodeText(subject))
    const { values: jobs, total } = await page(
      matching.selectAll().orderBy('due_ms', 'desc').orderBy('id', 'desc'),
      { limit, offset },
      fromRow,
    )
    return { jobs, total }
  },

  async cancelOf(subject, ms) {
    const { numUpdatedRows } = await write
      .updateTable('jobs')
      .set({ state: 'cancelled', finished_ms: ms })
      .where('subject', '=', encodeText(subject))
      .where('state', '=', 'waiting')
      .executeTakeFirstOrThrow()
    return Number(numUpdatedRows)
  },

  async prune(endedBeforeMs, trim) {
    await write.deleteFrom('jobs').where('finished_ms', '<', endedBeforeMs).execute()
    if (!trim) return
    const subject = encodeText(trim.subject)
    await write
      .deleteFrom('jobs')
      .where('subject', '=', subject)
      .where('finished_ms', 'is not', null)
      .where('id', 'not in', (eb) =>
        eb
          .selectFrom('jobs')
          .select('id')
          .where('subject', '=', subject)
          .where('finished_ms', 'is not', null)
          .orderBy('due_ms', 'desc')
          .orderBy('id', 'desc')
          .limit(trim.keep),
      )
      .execute()
  },
})

export const sqlJobs = (db: Db): JobStore => ({
  ...claims(db),
  ...leases(db),
  ...records(db),
})
