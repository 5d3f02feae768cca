import type { ApprovalOutcome } from '@gatehouse/contract'
import { createKit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { HandClock } from '../../log/testing.ts'
import { MemoryBudget } from './memory-budget.ts'
import { readInRoom } from './read-in-room.ts'

const limits = { heldBytesMax: 4_000_000, heldBytesPerAgentMax: 1_000_000 }
const outcome = { status: 'pending' } as ApprovalOutcome
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a result is read when there is memory for it, and not before', async () => {
  const memory = new MemoryBudget(limits)
  const clock = new HandClock()
  await using kit = await createKit({ memory })
  await kit.agent('alpha')
  const op = kit.op('alpha')
  const reading: string[] = []
  let end = (_outcome: ApprovalOutcome): void => {}
  const ending = new Promise<ApprovalOutcome>((resolve) => {
    end = resolve
  })
  const read = (name: string, result: Promise<ApprovalOutcome>) =>
    readInRoom(
      op,
      { clock, memory },
      () => 0,
      async (takeRoom) => {
        await takeRoom()
        reading.push(name)
        return result
      },
    )
  const first = read('first', ending)
  const second = read('second', Promise.resolve(outcome))
  await turn()
  expect(reading).toEqual(['first'])
  end(outcome)
  await Promise.all([first, second])
  expect(reading).toEqual(['first', 'second'])
  expect(memory.used).toBe(0)
})

test('who finds no memory in time is told to come again', async () => {
  const memory = new MemoryBudget(limits)
  await using kit = await createKit({ memory })
  await kit.agent('alpha')
  const other = memory.hold('alpha', 0)
  using _room = await other.room(1_000_000, () => ({ signal: new AbortController().signal }))
  const refused = Promise.allSettled([
    kit.app.getApprovalOutcome(kit.op('alpha'), { approval_id: 'appr-none' }),
    kit.app.pollEvents(kit.op('alpha'), { timeout_ms: 0 }),
  ])
  await turn()
  kit.clock.move(30_000)
  for (const one of await refused)
    expect(one).toMatchObject({ status: 'rejected', reason: { type: 'Overloaded' } })
})
