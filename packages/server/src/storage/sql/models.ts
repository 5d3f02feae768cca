import type { ModelStore, StoredModel } from '../../ports/models.ts'
import type { Db, ModelsTable } from './tables.ts'
import { decodeText, encodeText } from './text.ts'

/** Ids and hashes are checked before they get here; what a catalog says of itself is only text. */
const toRow = (model: StoredModel): ModelsTable => ({
  ...model,
  entry_json: encodeText(model.entry_json),
  header_json: encodeText(model.header_json),
  problem: model.problem === null ? null : encodeText(model.problem),
})

const fromRow = (row: ModelsTable): StoredModel => ({
  ...row,
  source: row.source as StoredModel['source'],
  entry_json: decodeText(row.entry_json),
  header_json: decodeText(row.header_json),
  problem: row.problem === null ? null : decodeText(row.problem),
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
