import { GatehouseError } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import type { Gates } from '../../ports/gates.ts'
import { askOthers } from './ask-gates.ts'

const asking = (failing: readonly number[], serving: readonly number[]) => {
  const asked: number[] = []
  const gates = {
    others: [1, 2],
    serves: (index: number) => serving.includes(index),
    async ask(index: number) {
      asked.push(index)
      if (failing.includes(index))
        throw new GatehouseError('StorageUnavailable', { detail: `${index} does not answer` })
    },
  } as unknown as Gates
  return { gates, asked }
}

test('all others are asked, and one that serves and fails is a failure', async () => {
  const both = asking([], [1, 2])
  await askOthers(both.gates, 'read policy', null)
  expect(both.asked).toEqual([1, 2])
  const { gates } = asking([2], [1, 2])
  await expect(askOthers(gates, 'read policy', null)).rejects.toThrow('2 does not answer')
})

test('one that does not serve is none, and where there is one process nobody is asked', async () => {
  const { gates, asked } = asking([2], [1])
  await askOthers(gates, 'lock vault', null)
  await askOthers(null, 'lock vault', null)
  expect(asked).toEqual([1, 2])
})
