import { expect, test } from 'vitest'
import { Disposal } from './disposal.ts'

test('closes in reverse, everything, and throws the first failure', async () => {
  const closed: string[] = []
  const disposal = new Disposal()
  disposal.defer(() => closed.push('first'))
  disposal.defer(() => {
    throw new Error('second fails')
  })
  disposal.use({ [Symbol.asyncDispose]: async () => void closed.push('third') })
  await expect(disposal[Symbol.asyncDispose]()).rejects.toThrow('second fails')
  expect(closed).toEqual(['third', 'first'])
})

test('what was moved is closed by its new owner alone', async () => {
  let closed = 0
  const disposal = new Disposal()
  disposal.defer(() => {
    closed += 1
  })
  const next = disposal.move()
  await disposal[Symbol.asyncDispose]()
  expect(closed).toBe(0)
  await next[Symbol.asyncDispose]()
  expect(closed).toBe(1)
})
