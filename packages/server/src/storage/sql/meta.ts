import type { MetaStore } from '../../ports/storage.ts'
import type { Db } from './tables.ts'
import { decodeText, encodeText } from './text.ts'

export const sqlMeta = ({ read, write }: Db): MetaStore => ({
  async get(key) {
    const row = await read
      .selectFrom('meta')
      .select('value')
      .where('key', '=', encodeText(key))
      .executeTakeFirst()
    return row ? decodeText(row.value) : null
  },

  async set(key, value) {
    const stored = encodeText(value)
    await write
      .insertInto('meta')
      .values({ key: encodeText(key), value: stored })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: stored }))
      .execute()
  },
})
