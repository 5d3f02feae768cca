import type { ProcessStore, StoredProcess } from '../../ports/process-store.ts'
import { first, page } from './queries.ts'
import { rowCodec, text, textOrNull } from './row-codec.ts'
import type { Db, ProcessesTable } from './tables.ts'
import { encodeText } from './text.ts'

const { toRow, fromRow } = rowCodec<StoredProcess, ProcessesTable>('processes', {
  agent: text,
  node: text,
  command: text,
  args_json: text,
  working_directory: text,
  network_json: text,
  detail: textOrNull,
})

export const sqlProcesses = ({ read, write }: Db): ProcessStore => ({
  async insert(process) {
    await write.insertInto('processes').values(toRow(process)).execute()
  },

  find: (id) =>
    first(read.selectFrom('processes').selectAll().where('id', '=', encodeText(id)), fromRow),

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
    const { values: processes, total } = await page(
      read
        .selectFrom('processes')
        .$if(agent !== undefined, (query) => query.where('agent', '=', encodeText(agent as string)))
        .$if(state !== undefined, (query) => query.where('state', '=', state as string))
        .$if(node !== undefined, (query) => query.where('node', '=', encodeText(node as string)))
        .selectAll()
        .orderBy('started_ms', 'desc')
        .orderBy('id', 'desc'),
      { limit, offset },
      fromRow,
    )
    return { processes, total }
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
