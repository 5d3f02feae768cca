import { defaultRangeExtractor, type Range, useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { common } from '../messages/common.ts'
import { useShortcuts } from '../shell/shortcuts.ts'

/** Browsers draw no element that is much higher. */
const pixelsMax = 15_000_000

/** How many rows fit into one list. */
export const rowsMax = (rowHeight: number): number => Math.floor(pixelsMax / rowHeight)

/**
 * A list of any length, of which only what is on the screen is drawn, and the row that has the focus. It scrolls with
 * the page; `j` and `k` go from row to row.
 */
export function LongList({
  label,
  count,
  keyAt,
  rowHeight,
  onShown,
  children,
}: {
  readonly label: string
  readonly count: number
  readonly keyAt: (at: number) => string | number
  /** A first guess in pixels; each row is measured when it is drawn. */
  readonly rowHeight: number
  /** Hears which rows are drawn, the last one included. */
  readonly onShown?: (first: number, last: number) => void
  readonly children: (at: number) => ReactNode
}) {
  const list = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [focused, setFocused] = useState(-1)
  useLayoutEffect(() => setTop(list.current?.offsetTop ?? 0), [])
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: top,
    getItemKey: keyAt,
    rangeExtractor: (range: Range) => {
      const drawn = defaultRangeExtractor(range)
      const isOff = focused >= 0 && focused < count && !drawn.includes(focused)
      return isOff ? [...drawn, focused].toSorted((a, b) => a - b) : drawn
    },
  })
  const shown = virtual.range
  const [first, last] = [shown?.startIndex ?? 0, shown?.endIndex ?? 0]
  useEffect(() => onShown?.(first, last), [onShown, first, last])
  useEffect(() => {
    const focus = ({ type, target }: FocusEvent) => {
      const row = type === 'focusin' && target instanceof Element && target.closest('[data-index]')
      setFocused(row instanceof HTMLElement ? Number(row.dataset['index']) : -1)
    }
    const element = list.current
    element?.addEventListener('focusin', focus)
    element?.addEventListener('focusout', focus)
    return () => {
      element?.removeEventListener('focusin', focus)
      element?.removeEventListener('focusout', focus)
    }
  }, [])
  const go = (by: number) => {
    const at = Math.min(count - 1, Math.max(0, focused < 0 ? first : focused + by))
    virtual.scrollToIndex(at)
    setFocused(at)
    // The row is there once it is drawn.
    requestAnimationFrame(() =>
      list.current?.querySelector<HTMLElement>(`[data-index="${at}"] :is(a, button)`)?.focus(),
    )
  }
  useShortcuts([
    { keys: 'j', text: common.nextRow, group: 'page', run: () => go(1) },
    { keys: 'k', text: common.previousRow, group: 'page', run: () => go(-1) },
  ])
  return (
    <div
      ref={list}
      role="list"
      aria-label={label}
      className="card relative"
      style={{ height: virtual.getTotalSize() }}
    >
      {virtual.getVirtualItems().map((item) => (
        <div
          key={item.key}
          ref={virtual.measureElement}
          data-index={item.index}
          role="listitem"
          aria-setsize={count}
          aria-posinset={item.index + 1}
          className="absolute inset-x-0 top-0 border-b border-line"
          style={{ transform: `translateY(${item.start - top}px)` }}
        >
          {children(item.index)}
        </div>
      ))}
    </div>
  )
}
