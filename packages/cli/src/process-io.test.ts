import { expect, test } from 'vitest'
import { outputOf } from './process-io.ts'

const terminal = (columns: number) => ({ isTTY: true, columns, write: () => true })

test('takes a terminal that does not know its size for one of the usual size', () => {
  expect(outputOf(terminal(0), () => {}).columns).toBe(80)
  expect(outputOf(terminal(132), () => {}).columns).toBe(132)
})

test('follows a terminal that is made larger', () => {
  const stream = terminal(80)
  const output = outputOf(stream, () => {})
  stream.columns = 120
  expect(output.columns).toBe(120)
})
