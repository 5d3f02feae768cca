import { GatehouseError } from '@gatehouse/contract'
import type { AgentStore, StoredAgent } from '../../ports/agents.ts'
import { first } from './queries.ts'
import { json, rowCodec, text } from './row-codec.ts'
import type { AgentsTable, Db } from './tables.ts'
import { encodeText } from './text.ts'

const { toRow, fromRow } = rowCodec<StoredAgent, AgentsTable>({
  purpose: text,
  workspace: text,
  mounts: json,
})

export const sqlAgents = ({ read, write }: Db): AgentStore => ({
  async insert(agent) {
    // A conflict that raises would spoil the transaction around it on PostgreSQL.
    const { numInsertedOrUpdatedRows } = await write
      .insertInto('agents')
      .values(toRow(agent))
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
    const { name, total_invocations, last_connected_ms, ...changed } = toRow(next)
    const { numUpdatedRows } = await write
      .updateTable('agents')
      .set(changed)
      .where('name', '=', current.name)
      .where('generation', '=', current.generation)
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async connected(name, ms) {
    await write
      .updateTable('agents')
      .set({ last_connected_ms: ms })
      .where('name', '=', encodeText(name))
      .execute()
  },
})
