import { expect, test } from 'vitest'
import { cells } from '../src/table.ts'
import { inZone } from './in-zone.ts'
import { type CliKit, createCliKit } from './kit.ts'
import { commandLines } from './lines.ts'

// The usual terminal has 80 columns, and a row that wraps is not read as a table.

const lists = Object.entries(commandLines).flatMap(([name, rest]) =>
  rest !== null && / (?:explain|list|logins|query|writes|rollbacks|failed|status)$/.test(name)
    ? [[...name.split(' '), ...rest]]
    : [],
)

/** A stale request of an agent with a longer name. */
const askOfAnother = async (cli: CliKit) => {
  const { kit } = await cli.open()
  await kit.agent('first-agent')
  await kit.run('first-agent', 'filesystem.write', { path: 'a.txt', content: 'x' })
  await kit.pending('first-agent', 'filesystem.delete', { path: 'a.txt' })
  await kit.run('first-agent', 'filesystem.write', { path: 'a.txt', content: 'y' })
  kit.clock.move(1_000)
}

test.each(lists.map((line) => [line.join(' '), line] as const))(
  'no row of %s wraps in 80 columns, in a zone with another day',
  async (_name, line) => {
    const kit = createCliKit()
    await askOfAnother(kit)
    const { out } = await inZone('Pacific/Kiritimati', () => kit.gatehouse(line, { columns: 80 }))
    const rows = out.split('\n').filter((row) => !/ is stale: /.test(row))
    for (const row of rows) expect(cells(row), row).toBeLessThanOrEqual(80)
  },
)
