import type { Flag } from './tables.ts'
import { decodeText, encodeText } from './text.ts'

/** How a value is written to a column, and read from it. */
type Column<Value, Cell> = {
  readonly encode: (value: Value) => Cell
  readonly decode: (cell: Cell) => Value
}

export const orNull = <In, Out, Cell>(column: {
  readonly encode: (value: In) => Cell
  readonly decode: (cell: Cell) => Out
}) => ({
  encode: (value: In | null) => (value === null ? null : column.encode(value)),
  decode: (cell: Cell | null) => (cell === null ? null : column.decode(cell)),
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
  decode: (cell: string) => JSON.parse(cell) as never,
}
export const jsonOrNull = orNull(json)

type Stored<Row> = { readonly [K in keyof Row]: unknown }
type Columns<Value extends Stored<Row>, Row> = {
  readonly [K in keyof Row as Value[K] extends Row[K] ? never : K]: Column<Value[K], Row[K]>
} & { readonly [K in keyof Row]?: Column<Value[K], Row[K]> }

/** Columns that are not named hold the value as it is; one of another type must be named. */
export function rowCodec<Value extends Stored<Row>, Row extends object>(
  columns: Columns<Value, Row>,
) {
  const named = Object.entries(columns) as [string, Column<unknown, unknown>][]
  const each = (from: object, way: keyof Column<unknown, unknown>): object => {
    const to: Record<string, unknown> = { ...from }
    for (const [name, column] of named) to[name] = column[way](to[name])
    return to
  }
  return {
    toRow: (value: Value) => each(value, 'encode') as Row,
    fromRow: (row: Row) => each(row, 'decode') as Value,
  }
}
