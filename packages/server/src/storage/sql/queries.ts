import type { SelectQueryBuilder } from 'kysely'
import type { Tables } from './tables.ts'

export async function first<Row, Value>(
  query: { executeTakeFirst(): Promise<Row | undefined> },
  fromRow: (row: Row) => Value,
): Promise<Value | null> {
  const row = await query.executeTakeFirst()
  return row ? fromRow(row) : null
}

/** One page of what a query selects, and how many rows it selects in all. */
export async function page<Table extends keyof Tables, Row, Value>(
  query: SelectQueryBuilder<Tables, Table, Row>,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  fromRow: (row: Row) => Value,
): Promise<{ readonly values: Value[]; readonly total: number }> {
  const rows = await query.limit(limit).offset(offset).execute()
  const { total } = await query
    .clearSelect()
    .clearOrderBy()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  return { values: rows.map(fromRow), total }
}
