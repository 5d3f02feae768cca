import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ReadyRootLauncher } from './ready-root-launcher.ts'

const open = (options: { readonly idleMs?: number; readonly program?: string } = {}) => {
  const started: ChildProcess[] = []
  const ready = new ReadyRootLauncher(() => {
    const child = spawn(options.program ?? 'cat', [], { stdio: 'pipe' })
    started.push(child)
    return child
  }, options)
  onTestFinished(() => {
    ready[Symbol.dispose]()
    for (const child of started) child.kill('SIGKILL')
  })
  const waiting = async (count: number) => expect.poll(() => started).toHaveLength(count)
  return { ready, started, waiting }
}

test('one is started when it was asked for, and given away once', async () => {
  const { ready, started, waiting } = open()
  expect(ready.take()).toBeNull()
  ready.prepare()
  ready.prepare()
  await waiting(1)
  ready.prepare()
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(started).toHaveLength(1)
  expect(ready.take()).toBe(started[0])
  expect(ready.take()).toBeNull()
})

test('one that nobody needs is ended after a while', async () => {
  const { ready, started, waiting } = open({ idleMs: 20 })
  ready.prepare()
  await waiting(1)
  await expect.poll(() => started[0]?.signalCode).toBe('SIGKILL')
  expect(ready.take()).toBeNull()
})

test('one that has ended or never started is not given away', async () => {
  const ended = open()
  ended.ready.prepare()
  await ended.waiting(1)
  ended.started[0]?.kill('SIGKILL')
  await once(ended.started[0] as ChildProcess, 'exit')
  expect(ended.ready.take()).toBeNull()
  const missing = open({ program: '/nowhere/at/all' })
  missing.ready.prepare()
  await missing.waiting(1)
  expect(missing.ready.take()).toBeNull()
})

test('where none can be started, nothing else fails', async () => {
  const start = vi.fn<() => ChildProcess>(() => {
    throw new Error('too many open files')
  })
  const ready = new ReadyRootLauncher(start)
  onTestFinished(() => ready[Symbol.dispose]())
  ready.prepare()
  await expect.poll(() => start).toHaveBeenCalledOnce()
  expect(ready.take()).toBeNull()
})

test('once it is closed, none waits and none is started', async () => {
  const { ready, started, waiting } = open()
  ready.prepare()
  await waiting(1)
  ready[Symbol.dispose]()
  await once(started[0] as ChildProcess, 'exit')
  ready.prepare()
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(started).toHaveLength(1)
})
