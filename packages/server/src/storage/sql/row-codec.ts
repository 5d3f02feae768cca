import { parseStored } from '../../domain/parse-stored.ts'
import type { Flag, Tables } from './tables.ts'
import { decodeText, encodeText } from './text.ts'

/** How a value is written to a column, and read from it. */
type Column<Value, Cell> = {
  readonly encode: (value: Value) => Cell
  /** `place`: the table and the column, for what cannot be read. */
  readonly decode: (cell: Cell, place: string) => Value
}

export const orNull = <In, Out, Cell>(column: {
  readonly encode: (value: In) => Cell
  readonly decode: (cell: Cell, place: string) => Out
}) => ({
  encode: (value: In | null) => (value === null ? null : column.encode(value)),
  decode: (cell: Cell | null, place: string) => (cell === null ? null : column.decode(cell, place)),
})

export const text: Column<string, string> = { encode: encodeText, decode: decodeText }
export const textOrNull = orNull(text)

export const flag: Column<boolean, Flag> = {
  encode: (value) => (value ? 1 : 0),
  decode: (cell) => cell === 1,
}

/** JSON escapes NUL and lone surrogates by itself. What is read has the form of what was written. */
export const json = {
  encode: (value: unknown): string => JSON.stringify(value),
  decode: (cell: string, place: string) => parseStored<never>(cell, place),
}
export const jsonOrNull = orNull(json)

type Stored<Row> = { readonly [K in keyof Row]: unknown }
type Columns<Value extends Stored<Row>, Row> = {
  readonly [K in keyof Row as Value[K] extends Row[K] ? never : K]: Column<Value[K], Row[K]>
} & { readonly [K in keyof Row]?: Column<Value[K], Row[K]> }

/** Columns that are not named hold the value as it is; one of another type must be named. */
export function rowCodec<Value extends Stored<Row>, Row extends object>(
  table: keyof Tables,
  columns: Columns<Value, Row>,
) {
  const named = Object.entries(columns) as [string, Column<unknown, unknown>][]
  const placed = named.map(([name, column]) => [name, column, `${table}.${name}`] as const)
  const toRow = (value: Value): Row => {
    const row = { ...value } as Record<string, unknown>
    for (const [name, column] of named) row[name] = column.encode(row[name])
    return row as Row
  }
  const fromRow = (row: Row): Value => {
    const value = { ...row } as Record<string, unknown>
    for (const [name, column, place] of placed) value[name] = column.decode(value[name], place)
    return value as Value
  }
  return { toRow, fromRow }
}
