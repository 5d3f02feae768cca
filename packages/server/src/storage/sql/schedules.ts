import type { ScheduleStore, StoredSchedule } from '../../ports/schedules.ts'
import { first, page } from './queries.ts'
import { rowCodec, text, textOrNull } from './row-codec.ts'
import type { Db, SchedulesTable } from './tables.ts'
import { encodeText } from './text.ts'

const { toRow, fromRow } = rowCodec<StoredSchedule, SchedulesTable>('schedules', {
  agent: text,
  capability: text,
  arguments_json: text,
  cron: textOrNull,
  time_zone: text,
  description: text,
})

export const sqlSchedules = ({ read, write }: Db): ScheduleStore => ({
  async insert(schedule) {
    await write.insertInto('schedules').values(toRow(schedule)).execute()
  },

  find: (id) =>
    first(read.selectFrom('schedules').selectAll().where('id', '=', encodeText(id)), fromRow),

  async replace(current, { status, next_ms, ended_ms }) {
    const { numUpdatedRows } = await write
      .updateTable('schedules')
      .set({ status, next_ms, ended_ms })
      .where('id', '=', current.id)
      .where('status', '=', current.status)
      .where('next_ms', 'is not distinct from', current.next_ms)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async list({ agent, status, limit, offset }) {
    const { values: schedules, total } = await page(
      read
        .selectFrom('schedules')
        .$if(agent !== undefined, (query) => query.where('agent', '=', encodeText(agent as string)))
        .$if(status !== undefined, (query) => query.where('status', '=', status as string))
        .selectAll()
        .orderBy('created_ms', 'desc')
        .orderBy('id', 'desc'),
      { limit, offset },
      fromRow,
    )
    return { schedules, total }
  },

  async listStalled(nowMs, limit) {
    const rows = await read
      .selectFrom('schedules')
      .selectAll()
      .where('status', '=', 'active')
      .where('next_ms', '<=', nowMs)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('jobs')
              .select('jobs.id')
              .whereRef('jobs.subject', '=', 'schedules.id')
              .where('jobs.state', 'in', ['waiting', 'running']),
          ),
        ),
      )
      .orderBy('next_ms')
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map(fromRow)
  },

  async prune(endedBeforeMs) {
    await write.deleteFrom('schedules').where('ended_ms', '<', endedBeforeMs).execute()
  },
})
