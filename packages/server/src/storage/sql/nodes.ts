import type { NodeStore, StoredNode } from '../../ports/nodes.ts'
import { first } from './queries.ts'
import { rowCodec, text, textOrNull } from './row-codec.ts'
import type { Db, NodesTable } from './tables.ts'
import { encodeText } from './text.ts'

const { toRow, fromRow } = rowCodec<StoredNode, NodesTable>('nodes', {
  name: text,
  place: text,
  version: text,
  address: textOrNull,
  facts_json: text,
})

export const sqlNodes = ({ read, write }: Db): NodeStore => ({
  async list() {
    const rows = await read.selectFrom('nodes').selectAll().orderBy('name').execute()
    return rows.map(fromRow)
  },

  find: (name) =>
    first(read.selectFrom('nodes').selectAll().where('name', '=', encodeText(name)), fromRow),

  async put(node) {
    const row = toRow(node)
    const { name: _name, ...changed } = row
    await write
      .insertInto('nodes')
      .values(row)
      .onConflict((conflict) => conflict.column('name').doUpdateSet(changed))
      .execute()
  },

  async beat(name, { seen_ms, facts_json }) {
    const row = await write
      .updateTable('nodes')
      .set({ seen_ms, facts_json: encodeText(facts_json) })
      .where('name', '=', encodeText(name))
      .returning('state')
      .executeTakeFirst()
    return row?.state ?? null
  },

  async setState(name, state, from) {
    const { numUpdatedRows } = await write
      .updateTable('nodes')
      .set({ state })
      .where('name', '=', encodeText(name))
      .$if(from !== undefined, (query) => query.where('state', '=', from ?? state))
      .executeTakeFirstOrThrow()
    return numUpdatedRows > 0n
  },

  async remove(name, seenMs) {
    const { numDeletedRows } = await write
      .deleteFrom('nodes')
      .where('name', '=', encodeText(name))
      .$if(seenMs !== undefined, (query) => query.where('seen_ms', '=', seenMs ?? 0))
      .executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  },
})
