import { GatehouseError } from '@gatehouse/contract'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineCapability } from '../../capabilities/define.ts'
import type { Log } from '../../ports/log.ts'

// A list looks at what it shows, but neither over and over nor for long; whoever decides sees it as it is.

const silence = { debug() {}, info() {}, warn() {}, error() {} }

/** A kit with a capability whose look at what it touches is in the hands of the test. */
const open = async (requests: number, log: Partial<Log> = {}) => {
  const asked: number[] = []
  let look: (n: number) => Promise<unknown> = async () => 'as it was'
  const touch = defineCapability({
    title: 'Touch',
    name: 'test.touch',
    version: '1.0',
    purpose: 'Touches.',
    when_to_use: 'In this test.',
    inputs: z.strictObject({ n: z.int() }),
    outputs: z.object({}),
    tier: 'approval_required',
    effect: 'immediate',
    errors: [],
    resolve: async ({ n }) => {
      asked.push(n)
      return { touched: await look(n) }
    },
    run: async () => ({}),
  })
  const kit = await createKit({
    capabilities: [touch],
    policy: 'version: 1\nrules:\n  - { match: test.touch, tier: approval_required }\n',
    runsApproved: false,
    log: { ...silence, ...log } as Log,
  })
  await kit.agent('alpha')
  const ids: string[] = []
  for (let n = 0; n < requests; n += 1) ids.push(await kit.pending('alpha', 'test.touch', { n }))
  asked.length = 0
  return {
    kit,
    ids,
    asked,
    set look(next: typeof look) {
      look = next
    },
    [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose](),
  }
}

const list = async (kit: Kit) =>
  (await kit.app.listApprovals(kit.operator(), { limit: 100, offset: 0 })).approvals
const show = (kit: Kit, approval_id = '') => kit.app.showApproval(kit.operator(), { approval_id })
const changed = 'what it touches has changed since it was asked for'

test('a list asks again after a second, and only of what is pending', async () => {
  await using made = await open(2)
  const { kit, ids, asked } = made
  expect((await list(kit)).map(({ stale }) => stale)).toEqual([null, null])
  expect(new Set(asked)).toEqual(new Set([0, 1]))
  made.look = async () => 'something else'
  kit.clock.move(999)
  expect((await list(kit)).map(({ stale }) => stale)).toEqual([null, null])
  expect(asked).toHaveLength(2)
  await kit.decide(ids[1] ?? '', 'reject')
  kit.clock.move(1)
  const found = await list(kit)
  expect(found.map(({ id, stale }) => [id, stale])).toEqual(
    expect.arrayContaining([
      [ids[0], changed],
      [ids[1], null],
    ]),
  )
  expect(asked).toHaveLength(3)
})

test('whoever looks at one asks at once, and two who look together ask once', async () => {
  await using made = await open(1)
  const { kit, ids, asked } = made
  await list(kit)
  made.look = async () => 'something else'
  const [first, second] = await Promise.all([show(kit, ids[0]), show(kit, ids[0])])
  expect([first.stale, second.stale]).toEqual([changed, changed])
  expect(asked).toHaveLength(2)
  expect((await list(kit))[0]?.stale).toBe(changed)
  made.look = async () => 'as it was'
  expect((await show(kit, ids[0])).stale).toBeNull()
  await kit.decide(ids[0] ?? '', 'reject')
  made.look = async () => 'something else'
  expect((await show(kit, ids[0])).stale).toBeNull()
})

test('a list looks at eight at once, waits two seconds, and leaves out what it does not know by then', async () => {
  await using made = await open(11)
  const { kit, asked } = made
  const waiting: (() => void)[] = []
  made.look = (n) =>
    n === 10
      ? Promise.resolve('something else')
      : new Promise((resolve) => waiting.push(() => resolve('something else')))
  const listed = list(kit)
  let isDone = false
  void listed.then(() => (isDone = true))
  await expect.poll(() => waiting.length).toBe(8)
  kit.clock.move(1_999)
  await new Promise((resolve) => setImmediate(resolve))
  expect(isDone).toBe(false)
  kit.clock.move(1)
  const known = (await listed).map(({ stale }) => stale).filter((stale) => stale !== null)
  expect(known).toEqual([changed])
  expect([asked.length, waiting.length]).toEqual([9, 8])
  for (const end of waiting) end()
  // Nobody waits for the rest any more, so it is not looked at.
  await new Promise((resolve) => setImmediate(resolve))
  expect(asked).toHaveLength(9)
  made.look = async () => 'something else'
  kit.clock.move(1_000)
  expect((await list(kit)).map(({ stale }) => stale)).toEqual(Array(11).fill(changed))
})

test('a look that fails is in the log, says nothing of the request, and is made again', async () => {
  const warned: unknown[] = []
  const warn = (facts: object, message: string) => void warned.push([facts, message])
  await using made = await open(1, { warn } as Partial<Log>)
  const { kit, ids } = made
  const fault = new Error('a fault of ours')
  made.look = () => Promise.reject(fault)
  expect((await show(kit, ids[0])).stale).toBeNull()
  expect(warned).toEqual([
    [{ err: fault, approval_id: ids[0] }, 'a pending request could not be checked'],
  ])
  made.look = () => Promise.reject(new GatehouseError('FileNotFound', { path: 'a.txt' }))
  expect((await show(kit, ids[0])).stale).toContain('what it touches has changed: ')
})
