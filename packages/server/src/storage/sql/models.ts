import type { ModelStore, StoredModel } from '../../ports/models.ts'
import { rowCodec, text, textOrNull } from './row-codec.ts'
import type { Db, ModelsTable } from './tables.ts'
import { encodeText } from './text.ts'

/** Ids and hashes are checked before they get here; what a catalog says of itself is only text. */
const { toRow, fromRow } = rowCodec<StoredModel, ModelsTable>('models', {
  entry_json: text,
  header_json: text,
  problem: textOrNull,
})

export const sqlModels = ({ read, write }: Db): ModelStore => ({
  async list(node) {
    const rows = await read
      .selectFrom('models')
      .selectAll()
      .where('node', '=', node)
      .orderBy('id')
      .execute()
    return rows.map(fromRow)
  },

  async find(node, id) {
    const row = await read
      .selectFrom('models')
      .selectAll()
      .where('node', '=', node)
      .where('id', '=', encodeText(id))
      .executeTakeFirst()
    return row ? fromRow(row) : null
  },

  async put(model) {
    const row = toRow(model)
    const { node: _node, id: _id, ...changed } = row
    await write
      .insertInto('models')
      .values(row)
      .onConflict((conflict) => conflict.columns(['node', 'id']).doUpdateSet(changed))
      .execute()
  },

  async remove(node, id) {
    const { numDeletedRows } = await write
      .deleteFrom('models')
      .where('node', '=', node)
      .where('id', '=', encodeText(id))
      .executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  },
})
