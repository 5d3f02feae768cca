import fc from 'fast-check'
import { expect, test } from 'vitest'
import { costOfBody, type Held, heldBytesFor, MemoryBudget } from './memory-budget.ts'

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
