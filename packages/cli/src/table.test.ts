import { expect, test } from 'vitest'
import { cells, renderTable } from './table.ts'

const columns = [
  { title: 'ID', value: (row: { id: string }) => row.id },
  { title: 'TEXT', value: (row: { text: string }) => row.text, cut: true as const },
] as never as Parameters<typeof renderTable<{ id: string; text: string }>>[0]
const rows = [{ id: 'appr-1', text: 'A long text that does not fit at all 你好你好你好' }]

test('fits the terminal by cutting what may be cut, and never an id', () => {
  const text = renderTable(columns, rows, { isTTY: true, columns: 24 })
  for (const line of text.split('\n')) expect(cells(line)).toBeLessThanOrEqual(24)
  expect(text).toContain('appr-1')
  expect(text).toContain('…')
})

test('cuts nothing where nobody looks', () => {
  expect(renderTable(columns, rows, { isTTY: false, columns: 24 })).toContain(rows[0]?.text)
})

test('puts what a row is about below it where the terminal is too narrow', () => {
  const wide = [
    columns[0],
    { title: 'WHAT', value: (row: { text: string }) => row.text, below: true as const },
    { title: 'BY', value: () => 'somebody', drop: true as const },
  ] as never as typeof columns
  expect(renderTable(wide, rows, { isTTY: true, columns: 54 }).split('\n')).toEqual([
    'ID',
    'appr-1',
    `  ${rows[0]?.text}`,
  ])
  expect(renderTable(wide, rows, { isTTY: true, columns: 90 })).toContain('BY')
})
