import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'

/** A list of any length, of which only what is on the screen is drawn. It scrolls with the page. */
export function LongList<Row>({
  label,
  rows,
  keyOf,
  rowHeight,
  children,
}: {
  readonly label: string
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** A first guess in pixels; each row is measured when it is drawn. */
  readonly rowHeight: number
  readonly children: (row: Row) => ReactNode
}) {
  const list = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), [])
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: top,
    getItemKey: (at) => {
      const row = rows[at]
      return row === undefined ? at : keyOf(row)
    },
  })
  return (
    <div
      ref={list}
      role="list"
      aria-label={label}
      className="card relative"
      style={{ height: virtual.getTotalSize() }}
    >
      {virtual.getVirtualItems().map((item) => {
        const row = rows[item.index]
        return row === undefined ? null : (
          <div
            key={item.key}
            ref={virtual.measureElement}
            data-index={item.index}
            role="listitem"
            aria-setsize={rows.length}
            aria-posinset={item.index + 1}
            className="absolute inset-x-0 top-0 border-b border-line"
            style={{ transform: `translateY(${item.start - top}px)` }}
          >
            {children(row)}
          </div>
        )
      })}
    </div>
  )
}
