import { type Kysely, sql } from 'kysely'
import { seqMax } from '../../domain/audit/row.ts'
import { parseStored } from '../../domain/parse-stored.ts'
import type { AuditCopies, ChainKey, ChainPlace, ChainRemoval } from '../../ports/audit-rows.ts'
import type { Db, Tables } from './tables.ts'

/** Place of what was signed of removed entries, by chain. */
export const removalKey = (chain: string): string => `audit.removal.${chain}`

/** Place of the key of a chain. */
const publicKeyKey = (chain: string): string => `audit.key.${chain}`

/** Place of the newest checkpoint of a chain. */
const checkpointKey = (chain: string): string => `audit.checkpoint.${chain}`

/** Copies that one statement removes: others wait for none of it long. */
const removedAtOnce = 2_000

/** Place of where the last root is that the process of a chain made. */
const rootKey = (chain: string): string => `audit.root.${chain}`

/** SQL of a number of an entry: of one that somebody forged, the nearest that can be told. */
const toldSeq = (column: string) => {
  const [seq, least, most] = [sql.raw(column), Number.MIN_SAFE_INTEGER, seqMax].map((part) =>
    typeof part === 'number' ? sql.lit(part) : part,
  )
  return sql<number>`case when ${seq} > ${most} then ${most} when ${seq} < ${least} then ${least} else ${seq} end`
}

type Row = { readonly key: string; readonly value: string }

const parsed = <T>({ key, value }: Row, isTold: (found: Partial<T>) => boolean): readonly T[] => {
  try {
    const found = parseStored<T | null>(value, `meta ${key}`)
    return found !== null && isTold(found) ? [found] : []
  } catch {
    // No process told that: it finds that what it told is gone.
    return []
  }
}

const areTexts = (...values: unknown[]): boolean =>
  values.every((value) => typeof value === 'string')

const isKey = ({ chain, public_key }: Partial<ChainKey>): boolean => areTexts(chain, public_key)

const isRemoval = (found: Partial<ChainRemoval>): boolean =>
  isKey(found) && areTexts(found.record, found.signature)

const isPlace = ({ chain, seq }: Partial<ChainPlace>): boolean =>
  areTexts(chain) && Number.isSafeInteger(seq)

const rowsLike = (db: Pick<Kysely<Tables>, 'selectFrom'>, pattern: string): Promise<Row[]> =>
  db
    .selectFrom('meta')
    .select(['key', 'value'])
    .where('key', 'like', pattern)
    .orderBy('key')
    .execute()

export const keepRemoval = (
  db: Pick<Kysely<Tables>, 'insertInto'>,
  removal: ChainRemoval,
): Promise<void> => keep(db, { key: removalKey(removal.chain), value: JSON.stringify(removal) })

const keep = async (db: Pick<Kysely<Tables>, 'insertInto'>, row: Row): Promise<void> => {
  await db
    .insertInto('meta')
    .values(row)
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: row.value }))
    .execute()
}

type Told = 'removals' | 'keys' | 'checkpoint' | 'roots'
type Telling = 'keepKey' | 'keepCheckpoint' | 'keepRoot'

/** Facts that processes tell each other of their logs beside the entries. */
const toldOfLogs = ({ read, write }: Db): Pick<AuditCopies, Told | Telling> => ({
  async removals() {
    const rows = await rowsLike(read, removalKey('%'))
    return rows.flatMap((row) => parsed<ChainRemoval>(row, isRemoval))
  },

  async keys() {
    const rows = await rowsLike(read, publicKeyKey('%'))
    return rows.flatMap((row) => parsed<ChainKey>(row, isKey))
  },

  async checkpoint(chain) {
    const row = await read
      .selectFrom('meta')
      .select('value')
      .where('key', '=', checkpointKey(chain))
      .executeTakeFirst()
    return row?.value ?? null
  },

  keepCheckpoint: (chain, note) => keep(write, { key: checkpointKey(chain), value: note }),

  async roots() {
    const rows = await rowsLike(read, rootKey('%'))
    return rows.flatMap((row) => parsed<ChainPlace>(row, isPlace))
  },

  keepRoot: (place) => keep(write, { key: rootKey(place.chain), value: JSON.stringify(place) }),

  keepKey: (key) => keep(write, { key: publicKeyKey(key.chain), value: JSON.stringify(key) }),
})

/** Removes the copies of entries before `size`. */
const removeCopies = async (
  db: Pick<Kysely<Tables>, 'selectFrom' | 'deleteFrom'>,
  chain: string,
  size: number,
): Promise<void> => {
  // Each range begins where the one before ended: from the beginning of the chain the database would go over
  // everything that was removed each time, until it has cleaned up.
  for (let from = Number.MIN_SAFE_INTEGER; ; ) {
    const { first } = await db
      .selectFrom('audit_copies')
      .select((e) => e.fn.min('seq').as('first'))
      .where('chain', '=', chain)
      .where('seq', '>=', from)
      .where('seq', '<', size)
      .executeTakeFirstOrThrow()
    if (first === null) return
    const end = Math.min(size, Number(first) + removedAtOnce)
    await db
      .deleteFrom('audit_copies')
      .where('chain', '=', chain)
      .where('seq', '>=', Number(first))
      .where('seq', '<', end)
      .execute()
    from = end
  }
}

export const sqlAuditCopies = ({ read, write }: Db): Omit<AuditCopies, 'takeForeign'> => ({
  ...toldOfLogs({ read, write }),

  read: (chain, from, limit) =>
    read
      .selectFrom('audit_copies')
      .select([toldSeq('audit_copies.seq').as('seq'), 'hash', 'body'])
      .where('chain', '=', chain)
      .$if(from > Number.MIN_SAFE_INTEGER, (copies) => copies.where('seq', '>=', from))
      .orderBy('audit_copies.seq')
      .limit(limit)
      .execute(),

  async ends() {
    // From the end of each chain to that of the chain before it: at their beginnings the index holds entries that were
    // removed, until the database has cleaned up.
    const { rows } = await sql<{ chain: string; next: number }>`
      with recursive chains(chain) as (
        select max(chain) from audit_copies
        union all
        select (select max(audit_copies.chain) from audit_copies where audit_copies.chain < chains.chain)
        from chains where chains.chain is not null
      )
      select chain, (select ${toldSeq('max(seq)')} + 1 from audit_copies where audit_copies.chain = chains.chain) as next
      from chains where chain is not null order by chain`.execute(read)
    return rows
  },

  async drop(chain) {
    await removeCopies(write, chain, Number.MAX_SAFE_INTEGER)
    // Numbers that no entry has, where somebody forged them.
    await write.deleteFrom('audit_copies').where('chain', '=', chain).execute()
    await write.deleteFrom('meta').where('key', '=', removalKey(chain)).execute()
  },

  async removeBefore(size, removal) {
    await keepRemoval(write, removal)
    await removeCopies(write, removal.chain, size)
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
