import type { SessionStore, StoredSession } from '../../ports/agents.ts'
import type { Db, SessionsTable } from './tables.ts'
import { decodeText, encodeText } from './text.ts'

const toRow = (session: StoredSession): SessionsTable => ({
  ...session,
  agent: encodeText(session.agent),
  // JSON escapes NUL and lone surrogates by itself.
  client: session.client && JSON.stringify(session.client),
})

const fromRow = (row: SessionsTable): StoredSession => ({
  ...row,
  agent: decodeText(row.agent),
  transport: row.transport as StoredSession['transport'],
  client: row.client === null ? null : (JSON.parse(row.client) as StoredSession['client']),
})

export const sqlSessions = ({ read, write }: Db): SessionStore => ({
  async insert(session) {
    await write.insertInto('sessions').values(toRow(session)).execute()
  },

  async find(id) {
    const row = await read
      .selectFrom('sessions')
      .selectAll()
      .where('id', '=', encodeText(id))
      .executeTakeFirst()
    return row ? fromRow(row) : null
  },

  async listOf(agent, limit) {
    const rows = await read
      .selectFrom('sessions')
      .selectAll()
      .where('agent', '=', encodeText(agent))
      .orderBy('created_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
    return rows.map(fromRow)
  },

  async end(id, ms) {
    const { numUpdatedRows } = await write
      .updateTable('sessions')
      .set({ ended_ms: ms })
      .where('id', '=', encodeText(id))
      .where('ended_ms', 'is', null)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async endAll(ms, agent) {
    const { numUpdatedRows } = await write
      .updateTable('sessions')
      .set({ ended_ms: ms })
      .where('ended_ms', 'is', null)
      .$if(agent !== undefined, (query) => query.where('agent', '=', encodeText(agent as string)))
      .executeTakeFirstOrThrow()
    return Number(numUpdatedRows)
  },

  async countOpen() {
    const { open } = await read
      .selectFrom('sessions')
      .select((eb) => eb.fn.countAll<number>().as('open'))
      .where('ended_ms', 'is', null)
      .executeTakeFirstOrThrow()
    return open
  },
})
