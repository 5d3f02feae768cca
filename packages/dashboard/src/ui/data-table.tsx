import {
  type ColumnDef,
  getCoreRowModel,
  getSortedRowModel,
  type SortingState,
  useReactTable,
} from '@tanstack/react-table'
import { type ReactNode, useMemo } from 'react'
import { common } from '../messages/common.ts'
import { cx } from './cx.ts'
import { Icon } from './icon.tsx'
import { useFilters } from './use-filters.ts'

export type Column<Row> = {
  readonly id: string
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  /** Key of the order; without it the column is not sorted. */
  readonly sortBy?: (row: Row) => string | number
  readonly align?: 'right'
  /** Takes the room that the others leave. */
  readonly wide?: boolean
}

type Props<Row> = {
  readonly caption: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  readonly sort?: { readonly id: string; readonly desc?: boolean }
  /** Name of the order in the address, where a page has several tables. */
  readonly sortName?: string
  /** Told apart by a mark at its left edge. */
  readonly isMarked?: (row: Row) => boolean
}

/** `calls`, or `-calls` from the highest to the lowest. */
const orderText = ([first]: SortingState): string =>
  first ? `${first.desc ? '-' : ''}${first.id}` : ''

/** The order in the address; that of an address for other columns is none. */
function useOrder<Row>({ columns, sort, sortName = 'sort' }: Props<Row>) {
  const [{ [sortName]: order = '' }, change] = useFilters<Readonly<Record<string, string>>>({
    [sortName]: sort ? orderText([{ desc: false, ...sort }]) : '',
  })
  const id = order.replace(/^-/, '')
  const isKnown = columns.some((column) => column.id === id && column.sortBy)
  // The same list as long as it says the same: the table sorts, and draws itself again, for each other one.
  const sorting = useMemo(
    (): SortingState => (isKnown ? [{ id, desc: order !== id }] : []),
    [isKnown, id, order],
  )
  const setSorting = (next: SortingState) => change({ [sortName]: orderText(next) })
  return { sorting, setSorting }
}

function useTable<Row>(props: Props<Row>) {
  const { rows, columns, keyOf } = props
  const { sorting, setSorting } = useOrder(props)
  const data = useMemo(() => [...rows], [rows])
  const defs = useMemo(
    () =>
      columns.map(
        ({ id, header, sortBy }): ColumnDef<Row> => ({
          id,
          header,
          ...(sortBy ? { accessorFn: sortBy } : { enableSorting: false }),
        }),
      ),
    [columns],
  )
  return useReactTable({
    data,
    columns: defs,
    state: { sorting },
    onSortingChange: (change) =>
      setSorting(typeof change === 'function' ? change(sorting) : change),
    getRowId: keyOf,
    getCoreRowModel: getCoreRowModel(),
    getSortedRowModel: getSortedRowModel(),
  })
}

/** A table that becomes a list of cards on a narrow screen; each cell then carries the name of its column. */
export function DataTable<Row>(props: Props<Row>) {
  const { caption, columns, isMarked } = props
  const table = useTable(props)
  const columnOf = (id: string): Column<Row> | undefined => columns.find((one) => one.id === id)
  const lookOf = (id: string): string => {
    const column = columnOf(id)
    return cx(
      column?.align === 'right' && 'sm:whitespace-nowrap sm:text-right',
      column?.wide === true ? 'sm:w-full [overflow-wrap:anywhere]' : 'break-words',
    )
  }
  return (
    <div className="card overflow-x-auto">
      <table className="w-full border-collapse max-sm:block">
        <caption className="sr-only">{caption}</caption>
        <thead className="max-sm:sr-only">
          <tr>
            {table.getFlatHeaders().map(({ id, column }) => {
              const sorted = column.getIsSorted()
              const text = columnOf(id)?.header
              return (
                <th
                  key={id}
                  scope="col"
                  aria-sort={
                    sorted === false ? undefined : sorted === 'asc' ? 'ascending' : 'descending'
                  }
                  className={cx(
                    'whitespace-nowrap border-b border-line px-3 py-1 text-left text-[0.867rem] font-medium text-ink-soft',
                    lookOf(id),
                  )}
                >
                  {column.getCanSort() ? (
                    <button
                      type="button"
                      className="inline-flex min-h-8 items-center gap-1 hover:text-ink"
                      onClick={column.getToggleSortingHandler()}
                    >
                      {text}
                      {sorted !== false && (
                        <Icon name={sorted === 'asc' ? 'up' : 'down'} size={14} />
                      )}
                    </button>
                  ) : (
                    <span className={text === '' ? 'sr-only' : 'inline-block py-1.5'}>
                      {text === '' ? common.actions : text}
                    </span>
                  )}
                </th>
              )
            })}
          </tr>
        </thead>
        <tbody className="max-sm:block">
          {table.getRowModel().rows.map((row) => (
            <tr
              key={row.id}
              data-row={row.id}
              className={cx(
                'border-line not-last:border-b max-sm:block max-sm:px-3 max-sm:py-2.5',
                isMarked?.(row.original) === true && 'shadow-[inset_3px_0_var(--color-warn)]',
              )}
            >
              {row.getVisibleCells().map((cell) => {
                const column = columnOf(cell.column.id)
                const header = column?.header ?? ''
                return (
                  <td
                    key={cell.id}
                    data-label={header}
                    className={cx(
                      'px-3 py-2 align-middle max-sm:flex max-sm:[overflow-wrap:anywhere] max-sm:min-w-0 max-sm:gap-3 max-sm:px-0 max-sm:py-0.5',
                      header !== '' &&
                        'max-sm:before:w-28 max-sm:before:shrink-0 max-sm:before:text-ink-soft max-sm:before:content-[attr(data-label)]',
                      lookOf(cell.column.id),
                    )}
                  >
                    {/* Called, not rendered as a component: with new columns that would be another one, and close its menu. */}
                    <div className="min-w-0">{column?.cell(row.original)}</div>
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
