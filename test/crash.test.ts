import { expect, test } from 'vitest'
import { endUnderLoad } from '../packages/cli/src/selftest/kills.ts'
import { Installation } from './support/server.ts'

const full = process.env['GATEHOUSE_FULL'] === '1'
const kills = full ? 200 : 4
const calls = full ? 10_000 : 300

test(
  `${kills} kills under load lose no acknowledged call, break no chain and run nothing approved twice`,
  async () => {
    await using gate = new Installation()
    const found = await endUnderLoad(gate, {
      ends: Array.from({ length: kills }, () => 'SIGKILL'),
      ...{ calls, onEnd: () => undefined },
      // With the other processes gone in between, and their logs to read.
      flags: (life) => (life % 2 === 0 ? ['--workers', '2'] : []),
    })
    expect(found).toMatchObject({ missing: [], wrong: [], integrity: 'verified', late: [] })
    expect(found.acknowledged).toBeGreaterThanOrEqual(calls)
    expect(found.approved).toBeGreaterThan(0)
  },
  full ? 7_200_000 : undefined,
)
