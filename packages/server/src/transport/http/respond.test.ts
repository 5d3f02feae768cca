import { rpcCodes } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { memoryTaken, type Refusal, refusals, tooManyConnections } from './respond.ts'

const all: readonly (readonly [string, Refusal])[] = [
  ...Object.entries<Refusal>(refusals),
  ['memoryTaken', memoryTaken(40_000)],
  ['tooManyConnections', tooManyConnections(9)],
]
const limited = all.filter(([, { code }]) => code === rpcCodes.rateLimited)

test.each(limited)('%s says when to come again, and which limit it was', (_name, refusal) => {
  expect(refusal.data).toEqual({
    reason: 'overloaded',
    retry_after_seconds: Number(refusal.headers?.['Retry-After']),
    limit: expect.any(Number),
    window: 'at once',
    ...(refusal.data?.['unit'] === undefined ? {} : { unit: 'bytes' }),
  })
})

test('the front refuses by a limit in four cases', () => {
  expect(limited.map(([name]) => name)).toEqual([
    ...['overloaded', 'stopping', 'memoryTaken', 'tooManyConnections'],
  ])
})
