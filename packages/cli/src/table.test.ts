import { expect, test } from 'vitest'
import { inZone } from '../test/in-zone.ts'
import { cells, renderTable } from './table.ts'

const columns = [
  { title: 'ID', value: (row: { id: string }) => row.id },
  { title: 'TEXT', value: (row: { text: string }) => row.text, cut: true as const },
] as never as Parameters<typeof renderTable<{ id: string; text: string }>>[0]
const rows = [{ id: 'appr-1', text: 'A long text that does not fit at all 你好你好你好' }]

test('fits the terminal by cutting what may be cut, and never an id', () => {
  const text = renderTable(columns, rows, { isTTY: true, columns: 24, coloured: false })
  for (const line of text.split('\n')) expect(cells(line)).toBeLessThanOrEqual(24)
  expect(text).toContain('appr-1')
  expect(text).toContain('…')
})

test('cuts nothing where nobody looks', () => {
  expect(renderTable(columns, rows, { isTTY: false, columns: 24, coloured: false })).toContain(
    rows[0]?.text,
  )
})

test('puts what a row is about below it where the terminal is too narrow', () => {
  const wide = [
    columns[0],
    { title: 'WHAT', value: (row: { text: string }) => row.text, below: true as const },
    { title: 'BY', value: () => 'somebody', drop: true as const },
  ] as never as typeof columns
  expect(
    renderTable(wide, rows, { isTTY: true, columns: 54, coloured: false }).split('\n'),
  ).toEqual(['ID', 'appr-1', `  ${rows[0]?.text}`])
  expect(renderTable(wide, rows, { isTTY: true, columns: 90, coloured: false })).toContain('BY')
})

test('begins the line below with what a row is about, and says the rest in words', () => {
  const some = [
    columns[0],
    { title: 'FROM', value: () => 'ana', below: (text: string) => `from ${text}` },
    { title: 'FOR', value: () => null, below: true as const },
    { title: 'WHAT', value: (row: { text: string }) => row.text, below: true as const },
  ] as never as typeof columns
  const one = [{ id: 'appr-1', text: 'A text of thirty-one characters' }]
  expect(renderTable(some, one, { isTTY: true, columns: 44, coloured: false }).split('\n')).toEqual(
    ['ID      FROM', 'appr-1  ana', '  A text of thirty-one characters'],
  )
  const narrow = renderTable(some, one, { isTTY: true, columns: 11, coloured: false })
  expect(narrow.split('\n')[0]).toBe('ID')
  expect(narrow).toContain('\n  A text o…')
})

const timed = [
  columns[0],
  { title: 'ASKED', time: () => '2026-03-01T20:00:00.000Z' },
  { title: 'ENDED', time: () => null, none: 'open' },
] as never as typeof columns

test('shows local times beside UTC where the terminal has room for both', () => {
  inZone('Asia/Kolkata', () => {
    const at = (width: number, isTTY = true, line = 1) =>
      renderTable(timed, rows, { isTTY, columns: width, coloured: false }).split('\n')[line]
    expect(at(80)).toBe('appr-1  2026-03-01 20:00:00Z (03-02 01:30)  open')
    expect(at(80, true, 0)).toBe('ID      ASKED (LOCAL)                       ENDED')
    expect(at(46, true, 0)).toBe('ID      ASKED                 ENDED')
    expect(at(46)).toBe('appr-1  2026-03-01 20:00:00Z  open')
    expect(at(80, false)).toBe('appr-1  2026-03-01 20:00:00Z  open')
  })
})

test('colours words under a status title, and never text of an agent that reads like one', () => {
  const states = [
    { title: 'NAME', value: () => 'failed' },
    { title: 'STATUS', value: () => 'approved, failed' },
  ] as never as typeof columns
  const wide = { isTTY: true, columns: 80 }
  expect(renderTable(states, rows, { ...wide, coloured: true }).split('\n')[1]).toBe(
    'failed  \u001b[32mapproved\u001b[0m, \u001b[31mfailed\u001b[0m',
  )
  expect(renderTable(states, rows, { ...wide, coloured: false })).not.toContain('\u001b')
})
