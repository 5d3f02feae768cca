import { sql } from 'kysely'
import type { SessionStore, StoredSession } from '../../ports/agents.ts'
import { first } from './queries.ts'
import { json, jsonOrNull, rowCodec, text } from './row-codec.ts'
import type { Db, SessionsTable } from './tables.ts'
import { decodeText, encodeText } from './text.ts'

const { toRow, fromRow: decode } = rowCodec<StoredSession, Omit<SessionsTable, 'used_ms'>>(
  'sessions',
  { agent: text, client: jsonOrNull },
)

const fromRow = ({ used_ms: _, ...row }: SessionsTable): StoredSession => decode(row)

const lastUse = sql<number>`coalesce(used_ms, created_ms)`

/** Sessions whose clients go from node to node. */
const uses = ({
  read,
  write,
}: Db): Pick<SessionStore, 'used' | 'findUsed' | 'listUnused' | 'endedSince'> => ({
  async used(ids, ms) {
    if (ids.length === 0) return
    await write
      .updateTable('sessions')
      .set({ used_ms: ms })
      .where('id', 'in', ids.map(encodeText))
      .where((eb) => eb.or([eb('used_ms', 'is', null), eb('used_ms', '<', ms)]))
      .execute()
  },

  async findUsed(id, sinceMs) {
    return first(
      read
        .selectFrom('sessions')
        .selectAll()
        .where('id', '=', encodeText(id))
        .where('ended_ms', 'is', null)
        .where(lastUse, '>=', sinceMs),
      fromRow,
    )
  },

  async listUnused(sinceMs, limit) {
    const rows = await read
      .selectFrom('sessions')
      .selectAll()
      .where('ended_ms', 'is', null)
      .where(lastUse, '<', sinceMs)
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map(fromRow)
  },

  async endedSince(ms) {
    const rows = await read
      .selectFrom('sessions')
      .select('id')
      .where('ended_ms', '>=', ms)
      .execute()
    return rows.map(({ id }) => decodeText(id))
  },
})

/** Changes of sessions that are open. */
const changes = ({ write }: Db): Pick<SessionStore, 'setClient' | 'end' | 'endAll'> => ({
  async setClient(id, client) {
    const { numUpdatedRows } = await write
      .updateTable('sessions')
      .set({ client: json.encode(client) })
      .where('id', '=', encodeText(id))
      .where('ended_ms', 'is', null)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
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
})

export const sqlSessions = ({ read, write }: Db): SessionStore => ({
  ...uses({ read, write }),
  ...changes({ read, write }),

  async insert(session) {
    await write.insertInto('sessions').values(toRow(session)).execute()
  },

  find: (id) =>
    first(read.selectFrom('sessions').selectAll().where('id', '=', encodeText(id)), fromRow),

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

  async newest() {
    const rows = await read
      .selectFrom('agents')
      .innerJoin('sessions', (on) =>
        on.on('sessions.id', '=', (eb) =>
          eb
            .selectFrom('sessions as one')
            .select('one.id')
            .whereRef('one.agent', '=', 'agents.name')
            .orderBy('one.created_ms', 'desc')
            .orderBy('one.id', 'desc')
            .limit(1),
        ),
      )
      .selectAll('sessions')
      .execute()
    return rows.map(fromRow)
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
