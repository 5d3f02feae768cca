import { escapeText } from './escape-text.ts'

export type Column<T> = {
  readonly title: string
  readonly value: (row: T) => string | number | null
  readonly align?: 'right'
  /** May be cut, with a `…`, where the terminal is too narrow. Ids and names never are. */
  readonly cut?: true
  /** Left out first where the terminal is too narrow for all. */
  readonly drop?: true
  /** On a line of its own below the row where the terminal is too narrow, so that it is not cut short. */
  readonly below?: true
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

const gap = 2
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
  terminal: { readonly isTTY: boolean; readonly columns: number },
): string {
  if (fits(columns, rows, terminal)) return renderColumns(columns, rows, terminal)
  const kept = columns.filter(({ drop }) => !drop)
  if (fits(kept, rows, terminal)) return renderColumns(kept, rows, terminal)
  const below = kept.find((column) => column.below)
  if (!below) return renderColumns(kept, rows, terminal)
  const [titles = '', ...lines] = renderColumns(
    kept.filter((column) => column !== below),
    rows,
    terminal,
  ).split('\n')
  const text = (row: T) => escapeText(String(below.value(row) ?? '-'))
  return [
    titles,
    ...rows.flatMap((row, i) => [lines[i] ?? '', `  ${cutTo(text(row), terminal.columns - 2)}`]),
  ].join('\n')
}

/** Whether nothing has to be cut. */
function fits<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  { isTTY, columns: width }: { readonly isTTY: boolean; readonly columns: number },
): boolean {
  if (!isTTY) return true
  const sum = columns.reduce((total, { title, value }) => {
    const widths = rows.map((row) => cells(escapeText(String(value(row) ?? '-'))))
    return total + Math.max(cells(title), ...widths)
  }, 0)
  return sum + gap * (columns.length - 1) <= width
}

function renderColumns<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  terminal: { readonly isTTY: boolean; readonly columns: number },
): string {
  const body = rows.map((row) => columns.map(({ value }) => escapeText(String(value(row) ?? '-'))))
  const natural = columns.map(({ title }, i) =>
    Math.max(cells(title), ...body.map((line) => cells(line[i] ?? ''))),
  )
  const total = terminal.isTTY ? terminal.columns : Number.POSITIVE_INFINITY
  const widths = fit(
    natural,
    columns.map(({ cut }) => cut === true),
    total,
  )
  const lineOf = (line: readonly string[]) =>
    columns
      .map(({ align }, i) => pad(cutTo(line[i] ?? '', widths[i] ?? 0), widths[i] ?? 0, align))
      .join(' '.repeat(gap))
      .trimEnd()
  return [lineOf(columns.map(({ title }) => title)), ...body.map(lineOf)].join('\n')
}

/** Names and values below each other. */
export function renderFields(
  fields: readonly (readonly [string, string | number | null])[],
): string {
  const width = Math.max(...fields.map(([name]) => name.length))
  return fields
    .map(([name, value]) => `${name.padEnd(width)}  ${escapeText(String(value ?? '-'))}`.trimEnd())
    .join('\n')
}
