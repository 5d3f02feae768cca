import { type Kysely, sql } from 'kysely'
import { parseStored } from '../../domain/parse-stored.ts'
import type { AuditCopies, ChainRemoval } from '../../ports/audit-rows.ts'
import type { Db, Tables } from './tables.ts'

/** Place of what was signed of removed entries, by chain. */
export const removalKey = (chain: string): string => `audit.removal.${chain}`

/** Copies that one statement removes: others wait for none of it long. */
const removedAtOnce = 20_000

type Row = { readonly key: string; readonly value: string }

const removalOf = ({ key, value }: Row): readonly ChainRemoval[] => {
  try {
    return [parseStored<ChainRemoval>(value, `meta ${key}`)]
  } catch {
    // Nobody can have signed that: its process finds that its own statement is gone.
    return []
  }
}

export const keepRemoval = async (
  db: Pick<Kysely<Tables>, 'insertInto'>,
  removal: ChainRemoval,
): Promise<void> => {
  const row = { key: removalKey(removal.chain), value: JSON.stringify(removal) }
  await db
    .insertInto('meta')
    .values(row)
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: row.value }))
    .execute()
}

export const sqlAuditCopies = ({ read, write }: Db): Omit<AuditCopies, 'takeForeign'> => ({
  read: (chain, from, limit) =>
    read
      .selectFrom('audit_copies')
      .select(['seq', 'hash', 'body'])
      .where('chain', '=', chain)
      .where('seq', '>=', from)
      .orderBy('seq')
      .limit(limit)
      .execute(),

  async ends() {
    const { rows } = await sql<{ chain: string; next: number }>`
      with recursive chains(chain) as (
        select min(chain) from audit_copies
        union all
        select (select min(audit_copies.chain) from audit_copies where audit_copies.chain > chains.chain)
        from chains where chains.chain is not null
      )
      select chain, (select max(seq) + 1 from audit_copies where audit_copies.chain = chains.chain) as next
      from chains where chain is not null`.execute(read)
    return rows
  },

  async removals() {
    const rows = await read
      .selectFrom('meta')
      .select(['key', 'value'])
      .where('key', 'like', removalKey('%'))
      .orderBy('key')
      .execute()
    return rows.flatMap(removalOf)
  },

  async drop(chain) {
    await write.deleteFrom('audit_copies').where('chain', '=', chain).execute()
    await write.deleteFrom('meta').where('key', '=', removalKey(chain)).execute()
  },

  async removeBefore(size, removal) {
    const { chain } = removal
    await keepRemoval(write, removal)
    for (;;) {
      const { first } = await write
        .selectFrom('audit_copies')
        .select((e) => e.fn.min('seq').as('first'))
        .where('chain', '=', chain)
        .where('seq', '<', size)
        .executeTakeFirstOrThrow()
      if (first === null) return
      await write
        .deleteFrom('audit_copies')
        .where('chain', '=', chain)
        .where('seq', '<', Math.min(size, Number(first) + removedAtOnce))
        .execute()
    }
  },
})

/** The first entry of a chain of which invocations and uses of limits are not stored. */
export const recordedIn = async ({ read }: Pick<Db, 'read'>, chain: string): Promise<number> => {
  const row = await read
    .selectFrom('audit_progress')
    .select('counted')
    .where('chain', '=', chain)
    .executeTakeFirst()
  return row?.counted ?? 0
}
