import { expect, test } from 'vitest'
import { HandClock } from '../log/testing.ts'
import type { SandboxChild, SandboxExit } from '../ports/sandbox.ts'
import { Head } from './head.ts'
import { Hosted, type Keeper } from './hosted.ts'

const usage = { duration_ms: 5, cpu_ms: 1, memory_bytes_max: 1 }

/** A stream that a test writes to by hand. */
const channel = () => {
  const chunks: Uint8Array[] = []
  let wake = () => {}
  let closed = false
  const read = async function* () {
    for (;;) {
      const next = chunks.shift()
      if (next) yield next
      else if (closed) return
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  }
  return {
    read: read(),
    write: (text: string) => {
      chunks.push(Buffer.from(text))
      wake()
    },
    close: () => {
      closed = true
      wake()
    },
  }
}

/** A child that ends when it is told to, and remembers how. */
const childOf = () => {
  const [out, err] = [channel(), channel()]
  const ends: number[] = []
  const signals: string[] = []
  let finish: (exit: SandboxExit) => void = () => {}
  const exited = new Promise<SandboxExit>((resolve) => {
    finish = (exit) => {
      out.close()
      err.close()
      resolve(exit)
    }
  })
  const child: SandboxChild = {
    pid: 1,
    backend: 'bubblewrap',
    stdin: { write: async () => {}, end: () => {} },
    stdout: out.read,
    stderr: err.read,
    exited,
    signal: (name) => void signals.push(name),
    end(graceMs) {
      ends.push(graceMs)
      finish({ code: null, signal: 'SIGKILL', usage })
      return exited
    },
  }
  return { child, out, err, ends, signals, finish }
}

const host = (
  given: ReturnType<typeof childOf>,
  keeper: (bytesMax: number) => Keeper = (n) => new Head(n),
) => {
  const clock = new HandClock()
  let closed = 0
  const hosted = new Hosted({
    child: given.child,
    clock,
    working_directory: '/w',
    timeout_ms: 1_000,
    keepers: { stdout: keeper(10), stderr: new Head(10) },
    read: async () => ({ bytes: new Uint8Array(), offset: 0, total_bytes: 0 }),
    scrub: (chunks) => chunks,
    refused: () => ['b.example:443'],
    close: async () => {
      closed += 1
    },
  })
  return { hosted, clock, closed: () => closed }
}

test('tells the end once everything is kept, and closes what was opened for it', async () => {
  const given = childOf()
  const { hosted, closed } = host(given)
  given.out.write('hello world')
  given.finish({ code: 3, signal: null, usage })
  expect(await hosted.exited).toEqual({
    state: 'completed',
    exit_code: 3,
    signal: null,
    usage,
    detail: null,
    refused_hosts: ['b.example:443'],
  })
  expect(hosted.written('stdout')).toBe(11)
  expect(closed()).toBe(1)
})

test('output that cannot be kept ends the process at once, and says why', async () => {
  const given = childOf()
  const full: Keeper = {
    total: 0,
    write: () =>
      Promise.reject(
        Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' }),
      ),
    close: async () => {},
  }
  const { hosted } = host(given, () => full)
  given.out.write('x')
  expect(await hosted.exited).toMatchObject({
    state: 'killed',
    detail: 'its output could not be kept: the disk is full (ENOSPC)',
  })
  expect(given.ends).toEqual([0])
})

test('ends at its time, and not a moment before', async () => {
  const given = childOf()
  const { hosted, clock } = host(given)
  clock.move(999)
  expect(given.ends).toEqual([])
  clock.move(1)
  expect(await hosted.exited).toMatchObject({ state: 'timed_out', detail: 'it did not end in 1 s' })
})

test('a signal with a reason counts as ended from outside, whatever the program makes of it', async () => {
  const given = childOf()
  const { hosted } = host(given)
  hosted.signal('SIGHUP', null)
  hosted.signal('SIGTERM', 'SIGTERM by ana')
  given.finish({ code: 0, signal: null, usage })
  expect(await hosted.exited).toMatchObject({
    state: 'killed',
    exit_code: 0,
    detail: 'SIGTERM by ana',
  })
  expect(given.signals).toEqual(['SIGHUP', 'SIGTERM'])
  hosted.signal('SIGTERM', 'late')
  expect(given.signals).toHaveLength(2)
})

test('takes no more of a flood than its share until its turn comes again', async () => {
  const given = childOf()
  const { hosted, clock } = host(given)
  const megabyte = 'x'.repeat(1024 * 1024)
  given.out.write(megabyte)
  given.out.write(megabyte)
  await expect.poll(() => hosted.written('stdout')).toBe(1024 * 1024)
  await new Promise((resolve) => setImmediate(resolve))
  expect(hosted.written('stdout')).toBe(1024 * 1024)
  clock.move(50)
  await expect.poll(() => hosted.written('stdout')).toBe(2 * 1024 * 1024)
  given.finish({ code: 0, signal: null, usage })
  clock.move(50)
  expect((await hosted.exited).state).toBe('completed')
})
