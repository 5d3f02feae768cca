import { GatehouseError } from '@gatehouse/contract'
import { sql } from 'kysely'
import type { AgentStore, StoredAgent } from '../../ports/agents.ts'
import { first } from './queries.ts'
import { json, rowCodec, text, textOrNull } from './row-codec.ts'
import type { AgentsTable, Db } from './tables.ts'
import { encodeText } from './text.ts'

const { toRow: encode, fromRow: decode } = rowCodec<
  StoredAgent,
  Omit<AgentsTable, 'change_number' | 'folder'>
>('agents', {
  purpose: text,
  workspace: text,
  site: textOrNull,
  mounts: json,
  tools: json,
  limits: json,
})

const toRow = (agent: StoredAgent): Omit<AgentsTable, 'change_number'> => {
  const row = encode(agent)
  return { ...row, folder: row.workspace }
}

const fromRow = ({ change_number: _, folder, ...row }: AgentsTable): StoredAgent =>
  decode({ ...row, workspace: folder ?? row.workspace })

/** One more than the largest. Transactions run one at a time on all nodes, so a later one has a larger number. */
const nextChange = sql<number>`(select coalesce(max(change_number), 0) + 1 from agents)`

export const sqlAgents = ({ read, write }: Db): AgentStore => ({
  async insert(agent) {
    // A conflict that raises would spoil the transaction around it on PostgreSQL.
    const { numInsertedOrUpdatedRows } = await write
      .insertInto('agents')
      .values({ ...toRow(agent), change_number: nextChange })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    if (!numInsertedOrUpdatedRows) throw new GatehouseError('AgentExists', { agent: agent.name })
  },

  find: (name) =>
    first(read.selectFrom('agents').selectAll().where('name', '=', encodeText(name)), fromRow),

  async findByTokenHash(hash) {
    const by = (column: 'token_hash' | 'previous_token_hash') =>
      read
        .selectFrom('agents')
        .selectAll()
        .where(column, '=', encodeText(hash))
        .orderBy('name')
        .limit(1)
        .executeTakeFirst()
    const row = (await by('token_hash')) ?? (await by('previous_token_hash'))
    return row ? fromRow(row) : null
  },

  async list() {
    const rows = await read.selectFrom('agents').selectAll().orderBy('name').execute()
    return rows.map(fromRow)
  },

  async replace(current, next) {
    const { name, workspace, total_invocations, last_connected_ms, ...changed } = toRow(next)
    const { numUpdatedRows } = await write
      .updateTable('agents')
      .set({ ...changed, change_number: nextChange })
      .where('name', '=', current.name)
      .where('generation', '=', current.generation)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async changedSince(place) {
    const rows = await read
      .selectFrom('agents')
      .selectAll()
      .where('change_number', '>', place)
      .orderBy('change_number')
      .execute()
    return { agents: rows.map(fromRow), place: Number(rows.at(-1)?.change_number ?? place) }
  },

  async connected(name, ms) {
    await write
      .updateTable('agents')
      .set({ last_connected_ms: ms })
      .where('name', '=', encodeText(name))
      .execute()
  },
})
