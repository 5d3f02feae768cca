import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { LaunchedChild } from './launched-child.ts'

const order = {
  ...{ folder: '/tmp', limits: {}, searched: [], relay: null, mounts: [], environment: {} },
  ...{ program: '/bin/true', args: [] },
}

test('a program whose launcher had to be killed was killed, whatever the outermost process makes of it', async () => {
  // Takes no orders. What it starts stands for the launcher inside, whose end it makes an exit code of.
  const outermost = spawn('/bin/sh', ['-c', 'sleep 600; exit 137'], {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'ignore', 'pipe'],
  })
  const child = new LaunchedChild(outermost, order)
  // Without a start of its own `sh` becomes what it runs, in some shells: it has a child all the same.
  expect(await child.end(0)).toMatchObject({ code: null, signal: 'SIGKILL' })
})

test('one that ended by itself without a word of its launcher ended as the outermost process did', async () => {
  const outermost = spawn('/bin/sh', ['-c', 'exit 7'], {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe', 'ignore', 'pipe'],
  })
  expect(await new LaunchedChild(outermost, order).exited).toMatchObject({ code: 7, signal: null })
})
