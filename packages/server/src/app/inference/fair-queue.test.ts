import { expect, test } from 'vitest'
import { FairQueue } from './fair-queue.ts'

const never = new AbortController().signal

/** Work that ends when it is told to, and writes down that it began. */
const worker = (queue: FairQueue) => {
  const begun: string[] = []
  let end = () => {}
  const run = (who: string, name: string, signal = never) =>
    queue.inTurn(who, signal, () => {
      begun.push(name)
      return new Promise<string>((resolve) => {
        end = () => resolve(name)
      })
    })
  const next = async () => {
    end()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { begun, run, next }
}

test('lets one work at a time, and takes turns between those who ask', async () => {
  const queue = new FairQueue({ each: 4, all: 8 })
  const { begun, run, next } = worker(queue)
  const all = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('b', 'b1'), run('c', 'c1')]
  expect(begun).toEqual(['a1'])
  expect([queue.active, queue.waiting]).toEqual([1, 4])
  for (let i = 0; i < 5; i += 1) await next()
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1'])
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3'])
  expect([queue.active, queue.waiting]).toEqual([0, 0])
})

test('has so many in line of each, and so many in all', async () => {
  const queue = new FairQueue({ each: 2, all: 3 })
  const { run, next } = worker(queue)
  const all = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3')]
  await expect(run('a', 'a4')).rejects.toMatchObject({ type: 'EngineBusy' })
  all.push(run('b', 'b1'))
  await expect(run('c', 'c1')).rejects.toMatchObject({ type: 'EngineBusy' })
  for (let i = 0; i < 4; i += 1) await next()
  expect(await Promise.all(all)).toHaveLength(4)
})

test('forgets who leaves the line, and goes on after a failure', async () => {
  const queue = new FairQueue({ each: 4, all: 8 })
  const { begun, run, next } = worker(queue)
  const leaving = new AbortController()
  const first = run('a', 'a1')
  const second = run('b', 'b1', leaving.signal)
  const failing = queue
    .inTurn('c', never, () => Promise.reject(new Error('broken')))
    .catch((cause: unknown) => cause)
  const last = run('d', 'd1')
  leaving.abort(new Error('gone'))
  await expect(second).rejects.toThrow('gone')
  await next()
  expect(await failing).toMatchObject({ message: 'broken' })
  await next()
  expect(await Promise.all([first, last])).toEqual(['a1', 'd1'])
  expect(begun).toEqual(['a1', 'd1'])
  await expect(run('b', 'b2', leaving.signal)).rejects.toThrow('gone')
})
