import type { StoredWrite, WriteFilter, WriteStore } from '../../ports/writes.ts'
import { first, page } from './queries.ts'
import { flag, rowCodec, text, textOrNull } from './row-codec.ts'
import type { Db, WritesTable } from './tables.ts'
import { decodeText, encodeText } from './text.ts'

const { toRow, fromRow } = rowCodec<StoredWrite, WritesTable>('writes', {
  agent: text,
  arguments_json: text,
  files_json: text,
  result_json: textOrNull,
  error_json: textOrNull,
  ended_by: textOrNull,
  repeatable: flag,
  dead: flag,
})

const pending = ['buffered', 'executing']

const isPending = ({ statuses }: WriteFilter): boolean =>
  statuses !== undefined && statuses.every((status) => pending.includes(status))

const claims = ({ read, write }: Db): Pick<WriteStore, 'claim' | 'nextDue'> => ({
  async claim({ services, owner, dueMs, leaseMs, limit }) {
    if (services.length === 0) return []
    // @SECURITY One statement picks and takes; sqlite.test.ts.
    const rows = await write
      .with('due', (db) =>
        db
          .selectFrom('writes')
          .select('id')
          .where('status', '=', 'buffered')
          .where('due_ms', '<=', dueMs)
          .where('service', 'in', services)
          .orderBy('due_ms')
          .orderBy('id')
          .limit(limit)
          .forUpdate()
          .skipLocked(),
      )
      .updateTable('writes')
      .set((eb) => ({
        status: 'executing',
        phase: 'capturing',
        owner,
        lease_ms: leaseMs,
        attempts: eb('attempts', '+', 1),
      }))
      .where('id', 'in', (eb) => eb.selectFrom('due').select('due.id'))
      .where('status', '=', 'buffered')
      .returningAll()
      .execute()
    return rows.map(fromRow).toSorted((a, b) => a.due_ms - b.due_ms || (a.id < b.id ? -1 : 1))
  },

  async nextDue(services) {
    if (services.length === 0) return null
    const row = await read
      .selectFrom('writes')
      .select('due_ms')
      .where('status', '=', 'buffered')
      .where('service', 'in', services)
      .orderBy('due_ms')
      .limit(1)
      .executeTakeFirst()
    return row?.due_ms ?? null
  },
})

/** Work that one owner has taken. */
const leases = ({ read, write }: Db): Pick<WriteStore, 'replace' | 'listLost'> => ({
  async replace(current, next) {
    const { due_ms, status, phase, attempts, proofs, repeatable, owner } = toRow(next)
    const { lease_ms, finished_ms, result_json, error_json, dead, ended_by } = toRow(next)
    // @SECURITY Of a cancel and a claim one wins; sqlite.test.ts.
    const { numUpdatedRows } = await write
      .updateTable('writes')
      .set({ due_ms, status, phase, attempts, proofs, repeatable, owner })
      .set({ lease_ms, finished_ms, result_json, error_json, dead, ended_by })
      .where('id', '=', current.id)
      .where('status', '=', current.status)
      .where('phase', 'is not distinct from', current.phase)
      .where('owner', 'is not distinct from', current.owner)
      .where('attempts', '=', current.attempts)
      .where('dead', '=', flag.encode(current.dead))
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async listLost({ owner, nowMs, limit }) {
    const rows = await read
      .selectFrom('writes')
      .selectAll()
      .where('status', '=', 'executing')
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

const records = ({ read, write }: Db): Pick<WriteStore, 'insert' | 'find' | 'files'> => ({
  async insert(stored, files) {
    await write.insertInto('writes').values(toRow(stored)).execute()
    for (const [position, { name, content_type, bytes }] of files.entries())
      await write
        .insertInto('write_files')
        .values({
          write_id: stored.id,
          position,
          name: encodeText(name),
          content_type: encodeText(content_type),
          bytes,
        })
        .execute()
  },

  find: (id) =>
    first(read.selectFrom('writes').selectAll().where('id', '=', encodeText(id)), fromRow),

  async files(id) {
    const rows = await read
      .selectFrom('write_files')
      .select(['name', 'content_type', 'bytes'])
      .where('write_id', '=', id)
      .orderBy('position')
      .execute()
    return rows.map(({ name, content_type, bytes }) => ({
      name: decodeText(name),
      content_type: decodeText(content_type),
      bytes: new Uint8Array(bytes),
    }))
  },
})

const overviews = ({ read }: Db): Pick<WriteStore, 'list' | 'counts' | 'listUnsent'> => ({
  async list(filter) {
    const { statuses, agent, service, dead, since_ms, until_ms, limit, offset } = filter
    const order = isPending(filter)
      ? ({ column: 'due_ms', direction: 'asc' } as const)
      : ({ column: 'buffered_ms', direction: 'desc' } as const)
    const { values: writes, total } = await page(
      read
        .selectFrom('writes')
        .$if(statuses !== undefined, (query) => query.where('status', 'in', statuses ?? []))
        .$if(agent !== undefined, (query) => query.where('agent', '=', encodeText(agent ?? '')))
        .$if(service !== undefined, (query) => query.where('service', '=', service ?? ''))
        .$if(dead !== undefined, (query) => query.where('dead', '=', flag.encode(dead ?? false)))
        .$if(since_ms !== undefined, (query) => query.where('buffered_ms', '>=', since_ms ?? 0))
        .$if(until_ms !== undefined, (query) => query.where('buffered_ms', '<=', until_ms ?? 0))
        .selectAll()
        .orderBy(order.column, order.direction)
        .orderBy('id', order.direction),
      { limit, offset },
      fromRow,
    )
    return { writes, total }
  },

  async counts() {
    const waiting = await read
      .selectFrom('writes')
      .select((eb) => ['service', eb.fn.countAll<number>().as('writes')])
      .where('status', 'in', pending)
      .groupBy('service')
      .execute()
    const dead = await read
      .selectFrom('writes')
      .select((eb) => ['service', eb.fn.countAll<number>().as('writes')])
      .where('dead', '=', 1)
      .groupBy('service')
      .execute()
    const found = new Map<string, { buffered: number; dead: number }>()
    for (const { service, writes } of waiting) found.set(service, { buffered: writes, dead: 0 })
    for (const { service, writes } of dead)
      found.set(service, { buffered: found.get(service)?.buffered ?? 0, dead: writes })
    return found
  },

  async listUnsent(of) {
    const rows = await read
      .selectFrom('writes')
      .selectAll()
      .where('status', 'in', pending)
      .where((eb) => eb.or([eb('status', '=', 'buffered'), eb('phase', '=', 'capturing')]))
      .$if('service' in of, (query) =>
        query.where('service', '=', 'service' in of ? of.service : ''),
      )
      .$if('agent' in of, (query) =>
        query.where('agent', '=', encodeText('agent' in of ? of.agent : '')),
      )
      .orderBy('due_ms')
      .orderBy('id')
      .limit(1_000)
      .execute()
    return rows.map(fromRow)
  },
})

const removals = ({ read, write }: Db): Pick<WriteStore, 'prune'> => ({
  async prune(endedBeforeMs) {
    await write
      .deleteFrom('write_files')
      .where('write_id', 'in', (eb) =>
        eb
          .selectFrom('writes')
          .select('id')
          .where('finished_ms', 'is not', null)
          .where('dead', '=', 0),
      )
      .execute()
    const ended = () =>
      read
        .selectFrom('writes')
        .select('id')
        .where('finished_ms', '<', endedBeforeMs)
        .where('dead', '=', 0)
    await write.deleteFrom('write_captures').where('write_id', 'in', ended()).execute()
    await write
      .deleteFrom('writes')
      .where('finished_ms', '<', endedBeforeMs)
      .where('dead', '=', 0)
      .execute()
  },
})

export const sqlWrites = (db: Db): WriteStore => ({
  ...claims(db),
  ...leases(db),
  ...records(db),
  ...overviews(db),
  ...removals(db),
})
