import { type AgentName, GatehouseError, type Mount } from '@gatehouse/contract'
import type { AgentStore, StoredAgent } from '../../ports/agents.ts'
import type { AgentsTable, Db } from './tables.ts'
import { decodeText, encodeText } from './text.ts'

const toRow = (agent: StoredAgent): AgentsTable => ({
  ...agent,
  purpose: encodeText(agent.purpose),
  workspace: encodeText(agent.workspace),
  mounts: JSON.stringify(agent.mounts),
})

const fromRow = (row: AgentsTable): StoredAgent => ({
  ...row,
  name: row.name as AgentName,
  purpose: decodeText(row.purpose),
  status: row.status as StoredAgent['status'],
  approvals: row.approvals as StoredAgent['approvals'],
  workspace: decodeText(row.workspace),
  mounts: JSON.parse(row.mounts) as Mount[],
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

  async find(name) {
    const row = await read
      .selectFrom('agents')
      .selectAll()
      .where('name', '=', encodeText(name))
      .executeTakeFirst()
    return row ? fromRow(row) : null
  },

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
