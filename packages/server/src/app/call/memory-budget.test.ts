import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HandClock } from '../../log/testing.ts'
import { heldBytesFor } from '../../transport/http/held-bytes.ts'
import { type CallRoom, costOfBody, type Held, MemoryBudget } from './memory-budget.ts'

const mib = 1024 * 1024

test('takes what there is for a heap, and a part of it for one agent', () => {
  const small = heldBytesFor(256 * mib)
  expect(small.heldBytesMax).toBe(104 * mib)
  expect(small.heldBytesPerAgentMax).toBe(26 * mib)
  expect(heldBytesFor(4096 * mib).heldBytesMax).toBe(2024 * mib)
  expect(heldBytesFor(0).heldBytesMax).toBeGreaterThan(0)
})

test('one agent leaves room for others, and large requests for small ones', () => {
  const budget = new MemoryBudget({ heldBytesMax: 400 * mib, heldBytesPerAgentMax: 100 * mib })
  const size = 9 * mib
  const alpha = [budget.take('alpha', size), budget.take('alpha', size)]
  expect(alpha.map((held) => held !== null)).toEqual([true, false])
  const others = ['b', 'c', 'd', 'e', 'f'].map((agent) => budget.take(agent, size))
  expect(others.map((held) => held !== null)).toEqual([true, true, true, false, false])
  expect(budget.take('control', 1_000)).not.toBeNull()
  alpha[0]?.release()
  expect(budget.take('e', size)).not.toBeNull()
})

test('gives back everything, whatever happened to a request', () => {
  const steps = fc.array(
    fc.tuple(
      fc.constantFrom('a', 'b', 'c'),
      fc.nat(12 * mib),
      fc.array(fc.constantFrom('grow', 'parsed', 'answered', 'release')),
    ),
  )
  fc.assert(
    fc.property(steps, (requests) => {
      const limits = { heldBytesMax: 300 * mib, heldBytesPerAgentMax: 90 * mib }
      const budget = new MemoryBudget(limits)
      const all: Held[] = []
      for (const [agent, bytes, then] of requests) {
        const held = budget.take(agent, bytes)
        if (!held) continue
        all.push(held)
        for (const step of then) {
          if (step === 'grow') held.grow(1_000)
          else if (step === 'answered') held.answered(1_000)
          else held[step]()
        }
        expect(budget.used).toBeLessThanOrEqual(limits.heldBytesMax + 100_000)
      }
      for (const held of all) held.release()
      expect(budget.used).toBe(0)
    }),
  )
})

test('counts a small body as dearer by the byte, for it may be values alone', () => {
  expect(costOfBody(1_000) / 1_000).toBeGreaterThan(20)
  expect(costOfBody(10 * mib) / (10 * mib)).toBeLessThan(9)
})

/** Waiters go on in a later turn of the loop. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('room for results', () => {
  const limits = { heldBytesMax: 400 * mib, heldBytesPerAgentMax: 100 * mib }
  const result = 20 * mib

  /** Calls of one budget, and which of them were let go, in that order. */
  const scene = () => {
    const budget = new MemoryBudget(limits)
    const clock = new HandClock()
    const went: string[] = []
    const rooms = new Map<string, CallRoom>()
    const ask = (
      name: string,
      held: Held,
      bytes = result,
      signal = new AbortController().signal,
    ) => {
      const go = (room: CallRoom): void => {
        went.push(name)
        rooms.set(name, room)
      }
      const room = held.room(bytes, () => ({ signal, clock }))
      if (!(room instanceof Promise)) go(room)
      return room instanceof Promise ? room.then(go) : null
    }
    const end = async (name: string, made = 0): Promise<void> => {
      rooms.get(name)?.made(made)
      rooms.get(name)?.[Symbol.dispose]()
      await turn()
    }
    return { budget, clock, went, ask, end }
  }

  test('a call reserves its largest result, and then has what it made', async () => {
    const { budget, ask, end } = scene()
    const held = budget.hold('alpha', 0)
    expect(ask('a', held)).toBeNull()
    expect(budget.used).toBe(40 * mib)
    await end('a', 1_000)
    expect(budget.used).toBe(1_000)
    held.answered(800)
    expect(budget.used).toBe(1_600)
    held.release()
    expect(budget.used).toBe(0)
  })

  test('calls of one agent go in their order, and other agents do not wait for them', async () => {
    const { budget, went, ask, end } = scene()
    for (let i = 0; i < 5; i++) void ask(`a${i}`, budget.hold('alpha', 0))
    void ask('b0', budget.hold('beta', 0))
    await turn()
    expect(went).toEqual(['a0', 'a1', 'b0'])
    await end('a0')
    await end('a1')
    expect(went).toEqual(['a0', 'a1', 'b0', 'a2', 'a3'])
    await end('a2')
    expect(went.at(-1)).toBe('a4')
  })

  test('agents take turns where all of it is used', async () => {
    const { budget, went, ask, end } = scene()
    for (const agent of ['a', 'b', 'c', 'd', 'e'])
      for (let i = 0; i < 3; i++) void ask(`${agent}${i}`, budget.hold(agent, 0))
    await turn()
    // 300 of the 400 MiB are for large ones.
    expect(went).toEqual(['a0', 'a1', 'b0', 'b1', 'c0', 'c1', 'd0'])
    for (const name of ['a0', 'a1', 'b0', 'b1']) await end(name)
    expect(went.slice(7)).toEqual(['a2', 'd1', 'b2', 'e0'])
    expect(ask('small', budget.hold('z', 0), 1_000)).not.toBeNull()
    await expect.poll(() => went.at(-1)).toBe('small')
  })

  test('who goes away or waits too long leaves the line', async () => {
    const { budget, clock, went, ask, end } = scene()
    const leaving = new AbortController()
    const [first, other] = [budget.hold('alpha', 0), budget.hold('alpha', 0)]
    void ask('a0', first)
    void ask('a1', other)
    const gone = ask('gone', budget.hold('alpha', 0), result, leaving.signal)
    const late = ask('late', budget.hold('alpha', 0))
    leaving.abort(new Error('gone'))
    await expect(gone).rejects.toThrow('gone')
    clock.move(30_000)
    await expect(late).rejects.toMatchObject({ type: 'Overloaded' })
    await end('a0')
    await end('a1')
    expect(went).toEqual(['a0', 'a1'])
    expect(budget.used).toBe(0)
  })

  test('a request whose own answers are in the way is refused at once', async () => {
    const { budget, ask, end } = scene()
    const held = budget.hold('alpha', 0)
    void ask('first', held, 40 * mib)
    await end('first', 75 * mib)
    await expect(ask('second', held, 40 * mib)).rejects.toMatchObject({ type: 'Overloaded' })
    expect(ask('third', held, 5 * mib)).toBeNull()
  })

  test('requests that wait with all that there is do not wait for each other', async () => {
    const { budget, went, ask, end } = scene()
    const body = 6 * mib
    const helds = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((agent) => budget.hold(agent, body))
    for (const held of helds) {
      held.grow(body)
      held.parsed()
    }
    const before = budget.used
    for (const [i, held] of helds.entries()) void ask(`call ${i}`, held, 37 * mib)
    for (let i = 0; i < helds.length; i++) {
      await expect.poll(() => went.length).toBeGreaterThan(i)
      await end(`call ${i}`)
      helds[i]?.release()
    }
    expect(went.length).toBe(helds.length)
    expect(before).toBeGreaterThan(0)
    expect(budget.used).toBe(0)
  })

  test('a call whose peer has gone keeps its room until it ends', async () => {
    const { budget, ask, end } = scene()
    const held = budget.hold('alpha', 1_000)
    void ask('a', held)
    held.release()
    expect(budget.used).toBe(40 * mib)
    await end('a', 5_000)
    expect(budget.used).toBe(0)
  })

  test('never deadlocks and gives everything back, whatever comes', async () => {
    const step = fc.record({
      agent: fc.constantFrom('a', 'b', 'c'),
      body: fc.nat(3 * mib),
      calls: fc.array(fc.tuple(fc.nat(40 * mib), fc.nat(20 * mib)), { maxLength: 4 }),
      batch: fc.boolean(),
      leavesEarly: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (requests) => {
        const { budget, ask, end } = scene()
        const serve = async (
          { agent, body, calls, batch, leavesEarly }: (typeof requests)[number],
          request: number,
        ): Promise<void> => {
          const held = budget.hold(agent, body)
          held.parsed()
          const one = async ([bytes, made]: readonly [number, number], i: number) => {
            const name = `${request}.${i}`
            const refused = await ask(name, held, bytes)?.catch((cause: unknown) => cause)
            if (refused === undefined || refused === null)
              await end(name, Math.min(made, 2 * bytes))
            else expect(refused).toMatchObject({ type: 'Overloaded' })
          }
          if (leavesEarly) setImmediate(() => held.release())
          if (batch) await Promise.all(calls.map(one))
          else for (const [i, call] of calls.entries()) await one(call, i)
          held.release()
        }
        await Promise.all(requests.map(serve))
        expect(budget.used).toBe(0)
      }),
      { numRuns: 60 },
    )
  })
})
