import type { StoredUpstream, UpstreamStore } from '../../ports/upstream.ts'
import { rowCodec, text, textOrNull } from './row-codec.ts'
import type { Db, UpstreamsTable } from './tables.ts'
import { encodeText } from './text.ts'

const { toRow, fromRow } = rowCodec<StoredUpstream, UpstreamsTable>('upstreams', {
  config_json: text,
  accepted_json: text,
  seen_json: textOrNull,
})

export const sqlUpstreams = ({ read, write }: Db): UpstreamStore => ({
  async list() {
    const rows = await read.selectFrom('upstreams').selectAll().orderBy('name').execute()
    return rows.map(fromRow)
  },

  async find(name) {
    const row = await read
      .selectFrom('upstreams')
      .selectAll()
      .where('name', '=', encodeText(name))
      .executeTakeFirst()
    return row ? fromRow(row) : null
  },

  async put(upstream) {
    const row = toRow(upstream)
    const { name: _name, ...changed } = row
    await write
      .insertInto('upstreams')
      .values(row)
      .onConflict((conflict) => conflict.column('name').doUpdateSet(changed))
      .execute()
  },

  async remove(name) {
    const { numDeletedRows } = await write
      .deleteFrom('upstreams')
      .where('name', '=', encodeText(name))
      .executeTakeFirstOrThrow()
    return numDeletedRows > 0n
  },
})
