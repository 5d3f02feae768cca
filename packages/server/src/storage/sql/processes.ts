import type { ProcessStore, StoredProcess } from '../../ports/process-store.ts'
import type { Db, ProcessesTable } from './tables.ts'
import { decodeText, decodeTextOrNull, encodeText, encodeTextOrNull } from './text.ts'

const toRow = (process: StoredProcess): ProcessesTable => ({
  ...process,
  agent: encodeText(process.agent),
  node: encodeText(process.node),
  command: encodeText(process.command),
  args_json: encodeText(process.args_json),
  working_directory: encodeText(process.working_directory),
  network_json: encodeText(process.network_json),
  detail: encodeTextOrNull(process.detail),
})

const fromRow = (row: ProcessesTable): StoredProcess => ({
  ...row,
  agent: decodeText(row.agent),
  node: decodeText(row.node),
  command: decodeText(row.command),
  args_json: decodeText(row.args_json),
  working_directory: decodeText(row.working_directory),
  network_json: decodeText(row.network_json),
  detail: decodeTextOrNull(row.detail),
  state: row.state as StoredProcess['state'],
})

export const sqlProcesses = ({ read, write }: Db): ProcessStore => ({
  async insert(process) {
    await write.insertInto('processes').values(toRow(process)).execute()
  },

  async find(id) {
    const row = await read
      .selectFrom('processes')
      .selectAll()
      .where('id', '=', encodeText(id))
      .executeTakeFirst()
    return row ? fromRow(row) : null
  },

  async update(process) {
    const { id, agent, node, command, args_json, network_json, started_ms, ...changed } =
      toRow(process)
    const { numUpdatedRows } = await write
      .updateTable('processes')
      .set(changed)
      .where('id', '=', id)
      .where('state', '=', 'running')
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async list({ agent, state, node, limit, offset }) {
    const matching = read
      .selectFrom('processes')
      .$if(agent !== undefined, (query) => query.where('agent', '=', encodeText(agent as string)))
      .$if(state !== undefined, (query) => query.where('state', '=', state as string))
      .$if(node !== undefined, (query) => query.where('node', '=', encodeText(node as string)))
    const rows = await matching
      .selectAll()
      .orderBy('started_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .offset(offset)
      .execute()
    const { total } = await matching
      .select((eb) => eb.fn.countAll<number>().as('total'))
      .executeTakeFirstOrThrow()
    return { processes: rows.map(fromRow), total }
  },

  async remove(id) {
    const { numDeletedRows } = await write
      .deleteFrom('processes')
      .where('id', '=', encodeText(id))
      .where('state', '<>', 'running')
      .executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  },

  async listEnded(node, beforeMs, limit) {
    const rows = await read
      .selectFrom('processes')
      .selectAll()
      .where('node', '=', encodeText(node))
      .where('ended_ms', '<', beforeMs)
      .orderBy('ended_ms')
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map(fromRow)
  },
})
