import { bold, isStatusName, paintStatus } from './colour.ts'
import type { View } from './define.ts'
import { escapeText } from './escape-text.ts'
import { shownLocal, shownTime, shownTimes, shownTimesShort } from './times.ts'

/** Facts about the output that a table needs. */
type Terminal = Omit<View, 'next'>

type Value<T> = (row: T) => string | number | null

export type Column<T> = Layout & ({ readonly value: Value<T> } | TimeOf<T>)

/** A time, with the local time beside it, or before what stands below the row, where there is room for it. */
type TimeOf<T> = {
  readonly time: (row: T) => string | null
  /** The word for no time. */
  readonly none?: string
}

type Layout = {
  readonly title: string
  readonly align?: 'right'
  /** May be cut, with a `…`, where the terminal is too narrow. Ids and names never are. */
  readonly cut?: true
  /** Left out first where the terminal is too narrow for all. */
  readonly drop?: true
  /** On a line below the row where the terminal is too narrow for all, in these words where some are given. */
  readonly below?: true | ((text: string) => string)
}

const wide =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}|[\uff01-\uff60]/u

/** How many places a text takes on a terminal, near enough for a table. */
export function cells(text: string): number {
  let count = 0
  for (const character of text) {
    if (/\p{M}/u.test(character)) continue
    count += wide.test(character) ? 2 : 1
  }
  return count
}

function cutTo(text: string, width: number): string {
  if (cells(text) <= width) return text
  let kept = ''
  for (const character of text) {
    if (cells(kept + character) > width - 1) break
    kept += character
  }
  return `${kept}…`
}

const pad = (text: string, width: number, align?: 'right'): string => {
  const space = ' '.repeat(Math.max(0, width - cells(text)))
  return align === 'right' ? space + text : text + space
}

/** A column whose cells are known. */
type Shown<T> = Layout & { readonly value: Value<T> }

const inUtc = <T>(columns: readonly Column<T>[]): Shown<T>[] =>
  columns.map((column) => {
    if ('value' in column) return column
    const { time, none = 'never', ...layout } = column
    return { ...layout, value: (row: T) => shownTime(time(row), none) }
  })

/** Local times are announced once, in the title, where there are two. */
const inBoth = <T>(columns: readonly Column<T>[], rows: readonly T[]): Shown<T>[] =>
  columns.map((column) => {
    if ('value' in column) return column
    const { time, none = 'never', title, ...layout } = column
    const value = (row: T) => shownTimesShort(time(row), none)
    const hasBoth = rows.some((row) => value(row) !== shownTime(time(row), none))
    return { ...layout, title: hasBoth ? `${title} (LOCAL)` : title, value }
  })

const gap = 2
/** Width that is left to a column that may be cut before a local time takes the room. */
const cutWidth = 24
const leastWidth = 8

/** Widths that fit: what may be cut gives way, the widest first. */
function fit(widths: number[], mayCut: readonly boolean[], total: number): number[] {
  const fitted = [...widths]
  const sum = () => fitted.reduce((a, b) => a + b, 0) + gap * (fitted.length - 1)
  while (sum() > total) {
    let widest = -1
    for (const [i, width] of fitted.entries())
      if (mayCut[i] && width > leastWidth && width > (fitted[widest] ?? 0)) widest = i
    if (widest === -1) break
    fitted[widest] = (fitted[widest] ?? 0) - 1
  }
  return fitted
}

/** Rows for people. Everything from data is escaped; without a terminal nothing is cut. */
export function renderTable<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  view: Terminal,
): string {
  const kept = columns.filter(({ drop }) => !drop)
  if (view.isTTY)
    for (const some of [columns, kept]) {
      const both = inBoth(some, rows)
      if (fits(both, rows, view, cutWidth)) return renderColumns(both, rows, view)
    }
  for (const some of [columns, kept]) {
    const utc = inUtc(some)
    if (fits(utc, rows, view)) return renderColumns(utc, rows, view)
  }
  if (!kept.some(({ below }) => below)) return renderColumns(inUtc(kept), rows, view)
  const without = kept.filter(({ below }) => below !== true)
  return fits(inUtc(without), rows, view)
    ? renderAbove(without, kept, rows, view)
    : renderAbove(
        kept.filter(({ below }) => !below),
        kept,
        rows,
        view,
      )
}

/** Rows of some columns, each with a line below for the others, and for a local time that has no room beside. */
function renderAbove<T>(
  above: readonly Column<T>[],
  all: readonly Column<T>[],
  rows: readonly T[],
  view: Terminal,
): string {
  const both = inBoth(above, rows)
  const hasRoom = fits(both, rows, view, cutWidth)
  const [titles = '', ...lines] = renderColumns(hasRoom ? both : inUtc(above), rows, view).split(
    '\n',
  )
  const timed = hasRoom ? undefined : above.find((column) => 'time' in column)
  const under = all.filter((column) => !above.includes(column))
  const text = (row: T) => {
    const local = timed ? shownLocal(timed.time(row)) : ''
    return `${local} ${textBelow(under, row)}`.trim()
  }
  return [
    titles,
    ...rows.flatMap((row, i) => [lines[i] ?? '', `  ${cutTo(text(row), view.columns - 2)}`]),
  ].join('\n')
}

/** Order of columns: the object of a row comes first. */
const byTelling = <T>(a: Column<T>, b: Column<T>): number =>
  Number(b.below === true) - Number(a.below === true)

/** Text below a row: the values that there are, each in its words. */
const textBelow = <T>(columns: readonly Column<T>[], row: T): string =>
  columns
    .toSorted(byTelling)
    .flatMap((column) => {
      const { below = true } = column
      const value =
        'time' in column ? column.time(row) && shownTimes(column.time(row)) : column.value(row)
      const text = escapeText(String(value ?? ''))
      if (text === '' || text === '-') return []
      return [below === true ? text : below(text)]
    })
    .join('; ')

/** Whether nothing has to be cut, or what may be cut not to less than `cutWidth`. */
function fits<T>(
  columns: readonly Shown<T>[],
  rows: readonly T[],
  { isTTY, columns: width }: Terminal,
  cutWidth = Number.POSITIVE_INFINITY,
): boolean {
  if (!isTTY) return true
  const sum = columns.reduce((total, { title, value, cut }) => {
    const widths = rows.map((row) => cells(escapeText(String(value(row) ?? '-'))))
    const widest = Math.max(cells(title), ...widths)
    return total + (cut ? Math.min(widest, cutWidth) : widest)
  }, 0)
  return sum + gap * (columns.length - 1) <= width
}

function renderColumns<T>(
  columns: readonly Shown<T>[],
  rows: readonly T[],
  view: Terminal,
): string {
  const body = rows.map((row) => columns.map(({ value }) => escapeText(String(value(row) ?? '-'))))
  const natural = columns.map(({ title }, i) =>
    Math.max(cells(title), ...body.map((line) => cells(line[i] ?? ''))),
  )
  const total = view.isTTY ? view.columns : Number.POSITIVE_INFINITY
  const widths = fit(
    natural,
    columns.map(({ cut }) => cut === true),
    total,
  )
  const lineOf = (line: readonly string[], coloured: boolean) =>
    columns
      .map(({ title, align }, i) => {
        const cell = pad(cutTo(line[i] ?? '', widths[i] ?? 0), widths[i] ?? 0, align)
        return isStatusName(title) ? paintStatus(cell, coloured) : cell
      })
      .join(' '.repeat(gap))
      .trimEnd()
  const titles = columns.map(({ title }) => title)
  return [
    bold(lineOf(titles, false), view.coloured),
    ...body.map((line) => lineOf(line, view.coloured)),
  ].join('\n')
}

/** Names and values below each other. */
export function renderFields(
  fields: readonly (readonly [string, string | number | null])[],
  { coloured }: Pick<Terminal, 'coloured'>,
): string {
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields
    .map(([name, value]) => {
      const text = escapeText(String(value ?? '-'))
      const shown = isStatusName(name) ? paintStatus(text, coloured) : text
      return `${name.padEnd(width)}  ${shown}`.trimEnd()
    })
    .join('\n')
}
