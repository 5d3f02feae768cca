import type { OperatorStore, StoredOperator, WebSessionStore } from '../../ports/people.ts'
import { first } from './queries.ts'
import type { Db, OperatorsTable } from './tables.ts'
import { encodeText } from './text.ts'

const fromRow = (row: OperatorsTable): StoredOperator => ({
  ...row,
  role: row.role as StoredOperator['role'],
  slot: row.slot as StoredOperator['slot'],
})

export const sqlOperators = ({ read, write }: Db): OperatorStore => ({
  async insert(operator) {
    await write.insertInto('operators').values(operator).execute()
  },

  find: (name) =>
    first(read.selectFrom('operators').selectAll().where('name', '=', encodeText(name)), fromRow),

  async list() {
    const rows = await read
      .selectFrom('operators')
      .selectAll()
      .orderBy('created_ms')
      .orderBy('name')
      .execute()
    return rows.map(fromRow)
  },

  async setPassword(name, next) {
    const { numUpdatedRows } = await write
      .updateTable('operators')
      .set(next)
      .where('name', '=', encodeText(name))
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async remove(name) {
    const { numDeletedRows } = await write
      .deleteFrom('operators')
      .where('name', '=', encodeText(name))
      .executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  },
})

export const sqlWebSessions = ({ read, write }: Db): WebSessionStore => ({
  async insert(session) {
    await write.insertInto('web_sessions').values(session).execute()
  },

  async findByHash(hash) {
    const row = await read
      .selectFrom('web_sessions')
      .selectAll()
      .where('id_hash', '=', encodeText(hash))
      .executeTakeFirst()
    return row ?? null
  },

  list: () =>
    read
      .selectFrom('web_sessions')
      .selectAll()
      .orderBy('created_ms', 'desc')
      .orderBy('id_hash')
      .execute(),

  async end(hash) {
    const { numDeletedRows } = await write
      .deleteFrom('web_sessions')
      .where('id_hash', '=', encodeText(hash))
      .executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  },

  async endAllOf(operator, exceptHash) {
    const ofOperator = write.deleteFrom('web_sessions').where('operator', '=', encodeText(operator))
    const others =
      exceptHash === null ? ofOperator : ofOperator.where('id_hash', '!=', encodeText(exceptHash))
    const { numDeletedRows } = await others.executeTakeFirstOrThrow()
    return Number(numDeletedRows)
  },

  async endExpired(ms) {
    await write.deleteFrom('web_sessions').where('expires_ms', '<=', ms).execute()
  },
})
