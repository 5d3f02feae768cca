import { expect, test } from 'vitest'
import { commands } from '../src/commands/index.ts'

test.each(commands.map((entry) => [entry.name, entry] as const))(
  '%s is in the list as it says of itself',
  async (_name, entry) => {
    const command = await entry.load()
    expect({ name: command.name, summary: command.summary }).toEqual({
      name: entry.name,
      summary: entry.summary,
    })
    for (const example of command.examples) expect(example).toContain(`gatehouse ${command.name}`)
  },
)
