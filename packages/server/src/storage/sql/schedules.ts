import type { ScheduleStore, StoredSchedule } from '../../ports/schedules.ts'
import type { Db, SchedulesTable } from './tables.ts'
import { decodeText, decodeTextOrNull, encodeText, encodeTextOrNull } from './text.ts'

const toRow = (schedule: StoredSchedule): SchedulesTable => ({
  ...schedule,
  agent: encodeText(schedule.agent),
  capability: encodeText(schedule.capability),
  arguments_json: encodeText(schedule.arguments_json),
  cron: encodeTextOrNull(schedule.cron),
  time_zone: encodeText(schedule.time_zone),
  description: encodeText(schedule.description),
})

const fromRow = (row: SchedulesTable): StoredSchedule => ({
  ...row,
  agent: decodeText(row.agent),
  capability: decodeText(row.capability),
  arguments_json: decodeText(row.arguments_json),
  cron: decodeTextOrNull(row.cron),
  time_zone: decodeText(row.time_zone),
  description: decodeText(row.description),
  status: row.status as StoredSchedule['status'],
})

export const sqlSchedules = ({ read, write }: Db): ScheduleStore => ({
  async insert(schedule) {
    await write.insertInto('schedules').values(toRow(schedule)).execute()
  },

  async find(id) {
    const row = await read
      .selectFrom('schedules')
      .selectAll()
      .where('id', '=', encodeText(id))
      .executeTakeFirst()
    return row ? fromRow(row) : null
  },

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
    const matching = read
      .selectFrom('schedules')
      .$if(agent !== undefined, (query) => query.where('agent', '=', encodeText(agent as string)))
      .$if(status !== undefined, (query) => query.where('status', '=', status as string))
    const rows = await matching
      .selectAll()
      .orderBy('created_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute()
    const { total } = await matching
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    return { schedules: rows.map(fromRow), total }
  },

  async prune(endedBeforeMs) {
    await write.deleteFrom('schedules').where('ended_ms', '<', endedBeforeMs).execute()
  },
})
