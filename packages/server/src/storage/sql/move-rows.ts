import { createHash } from 'node:crypto'
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { MovedTable } from '../../domain/move-mark.ts'
import type { Row, TablePlan } from './moved-tables.ts'
import type { Tables } from './tables.ts'

type Database = Kysely<Tables>

const pageRows = 250

/** Part of a store that is moved: its tables, and the processes of the node whose rows they are. */
type Source = { readonly db: Database; readonly nodes: readonly string[] }

const tuple = (parts: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  sql`(${sql.join(parts as RawBuilder<unknown>[])})`

const wantedRows = (
  { without, ofNode }: TablePlan,
  nodes: readonly string[],
): RawBuilder<unknown> => {
  if (without) return sql`${sql.ref(without.column)} not in (${sql.join([...without.values])})`
  return ofNode ? sql`${sql.ref(ofNode)} in (${sql.join([...nodes])})` : sql`1 = 1`
}

async function* pagesOf(
  { db, nodes }: Source,
  name: string,
  plan: TablePlan,
): AsyncGenerator<readonly Row[]> {
  const keys = plan.key.map((column) => sql.ref(column))
  const limit = plan.page ?? pageRows
  let after: Row | null = null
  for (;;) {
    const last: Row | null = after
    const behind: RawBuilder<unknown> = last
      ? sql`and ${tuple(keys)} > ${tuple(plan.key.map((column) => sql`${last[column]}`))}`
      : sql``
    const { rows }: { rows: Row[] } = await sql<Row>`
      select * from ${sql.table(name)} where ${wantedRows(plan, nodes)} ${behind}
      order by ${sql.join(keys)} limit ${sql.lit(limit)}`.execute(db)
    if (rows.length > 0) yield rows
    if (rows.length < limit) return
    after = rows.at(-1) ?? null
  }
}

/** The same text for the same row on each engine. */
const rowText = (row: Row): string => {
  const columns = Object.keys(row).toSorted()
  const values = columns.map((column) => {
    const value = row[column]
    return value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : value
  })
  return `${JSON.stringify([columns, values])}\n`
}

/** Counts and hashes rows as they go by. */
export class RowDigest {
  readonly #hash = createHash('sha256')
  #rows = 0

  add(row: Row): void {
    this.#rows += 1
    this.#hash.update(rowText(row))
  }

  end(): MovedTable {
    return { rows: this.#rows, sha256: this.#hash.digest('hex') }
  }
}

export const digestTable = async (
  source: Source,
  name: string,
  plan: TablePlan,
): Promise<MovedTable> => {
  const digest = new RowDigest()
  for await (const rows of pagesOf(source, name, plan)) for (const row of rows) digest.add(row)
  return digest.end()
}

export const countTable = async (
  { db, nodes }: Source,
  name: string,
  plan: TablePlan,
): Promise<number> => {
  const { rows } = await sql<{ n: number }>`
    select count(*) as n from ${sql.table(name)} where ${wantedRows(plan, nodes)}`.execute(db)
  return Number(rows[0]?.n ?? 0)
}

export const insertRows = async (
  db: Database,
  name: string,
  rows: readonly Row[],
): Promise<void> => {
  const columns = Object.keys(rows[0] ?? {})
  if (columns.length === 0) return
  const values = rows.map((row) => tuple(columns.map((column) => sql`${row[column]}`)))
  await sql`insert into ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values ${sql.join(values)}`.execute(db)
}

/** Copies the rows of a table, and returns what was written. */
export const copyTable = async (
  source: Source,
  target: Database,
  name: string,
  plan: TablePlan,
): Promise<MovedTable> => {
  const digest = new RowDigest()
  for await (const rows of pagesOf(source, name, plan)) {
    const changed = plan.change ? rows.map(plan.change) : rows
    for (const row of changed) digest.add(row)
    await insertRows(target, name, changed)
  }
  return digest.end()
}
