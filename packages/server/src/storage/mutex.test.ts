import { expect, test } from 'vitest'
import { FifoMutex } from './mutex.ts'

test('work runs one at a time, in the order in which it asked', async () => {
  const mutex = new FifoMutex()
  const seen: string[] = []
  await Promise.all(
    [1, 2, 3].map((n) =>
      mutex.run(async () => {
        seen.push(`in ${n}`)
        await Promise.resolve()
        seen.push(`out ${n}`)
      }),
    ),
  )
  expect(seen).toEqual(['in 1', 'out 1', 'in 2', 'out 2', 'in 3', 'out 3'])
})

test('work on a free mutex has run when the call returns, and on a held one it waits', async () => {
  const mutex = new FifoMutex()
  let ran = 0
  const done = mutex.runNow(() => ran++)
  expect(ran).toBe(1)
  await done
  await mutex.lock()
  const later = mutex.runNow(() => ran++)
  expect(ran).toBe(1)
  mutex.unlock()
  await later
  expect(ran).toBe(2)
})

test('work that throws rejects and lets the next one in', async () => {
  const mutex = new FifoMutex()
  const fail = () => {
    throw new Error('no')
  }
  await expect(mutex.runNow(fail)).rejects.toThrow('no')
  await expect(mutex.run(fail)).rejects.toThrow('no')
  expect(mutex.tryLock()).toBe(true)
})

test('nobody overtakes whoever waits', async () => {
  const mutex = new FifoMutex()
  await mutex.lock()
  const waiting = mutex.lock()
  mutex.unlock()
  expect(mutex.tryLock()).toBe(false)
  await waiting
  mutex.unlock()
  expect(mutex.tryLock()).toBe(true)
})
