import { fakeApproval } from '@gatehouse/testkit/fake-app'
import { expect, test } from 'vitest'
import { cells } from '../src/table.ts'
import { inZone } from './in-zone.ts'
import { createCliKit } from './kit.ts'
import { commandLines } from './lines.ts'

// The usual terminal has 80 columns, and a row that wraps is not read as a table.

const lists = Object.entries(commandLines).flatMap(([name, rest]) =>
  rest !== null && / (?:list|query|writes|rollbacks|failed|status)$/.test(name)
    ? [[...name.split(' '), ...rest]]
    : [],
)

test.each(lists.map((line) => [line.join(' '), line] as const))(
  'no row of %s wraps in 80 columns, in a zone with another day',
  async (_name, line) => {
    const kit = createCliKit()
    kit.fake.tell({ ...fakeApproval(1), agent: 'first-agent' as never, stale: 'it has changed' })
    const { out } = await inZone('Pacific/Kiritimati', () => kit.gatehouse(line, { columns: 80 }))
    const rows = out.split('\n').filter((row) => !/ is stale: /.test(row))
    for (const row of rows) expect(cells(row), row).toBeLessThanOrEqual(80)
  },
)
