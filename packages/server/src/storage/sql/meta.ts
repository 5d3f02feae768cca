import { parseStored } from '../../domain/parse-stored.ts'
import type { MetaStore } from '../../ports/storage.ts'
import type { Db } from './tables.ts'
import { decodeText, encodeText } from './text.ts'

type Lease = { readonly owner: string; readonly until_ms: number }

const leaseIn = (key: string, text: string | null): Lease | null =>
  text ? parseStored<Lease>(text, `meta.${key}`) : null

export const sqlMeta = ({ read, write }: Db): MetaStore => {
  const get: MetaStore['get'] = async (key) => {
    const row = await read
      .selectFrom('meta')
      .select('value')
      .where('key', '=', encodeText(key))
      .executeTakeFirst()
    return row ? decodeText(row.value) : null
  }

  /** Whether the value was still the known one, and is the next one now. */
  const replace = async (key: string, known: string | null, next: string): Promise<boolean> => {
    const row = { key: encodeText(key), value: encodeText(next) }
    if (known === null) {
      const { numInsertedOrUpdatedRows } = await write
        .insertInto('meta')
        .values(row)
        .onConflict((conflict) => conflict.column('key').doNothing())
        .executeTakeFirst()
      return (numInsertedOrUpdatedRows ?? 0n) > 0n
    }
    const { numUpdatedRows } = await write
      .updateTable('meta')
      .set({ value: row.value })
      .where('key', '=', row.key)
      .where('value', '=', encodeText(known))
      .executeTakeFirst()
    return numUpdatedRows > 0n
  }

  return {
    get,

    async set(key, value) {
      const stored = encodeText(value)
      await write
        .insertInto('meta')
        .values({ key: encodeText(key), value: stored })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: stored }))
        .execute()
    },

    async lease(key, owner, nowMs, untilMs) {
      const known = await get(key)
      const held = leaseIn(key, known)
      if (held !== null && held.owner !== owner && nowMs < held.until_ms) return false
      return replace(key, known, JSON.stringify({ owner, until_ms: untilMs } satisfies Lease))
    },

    async release(key, owner) {
      const known = await get(key)
      if (known !== null && leaseIn(key, known)?.owner === owner) await replace(key, known, '')
    },
  }
}
