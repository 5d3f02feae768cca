import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { until } from '@gatehouse/testkit/until'
import { describe, expect, test } from 'vitest'
import type { SandboxOptions } from '../../src/sandbox/create-sandbox.ts'
import { backends, SandboxKit } from './sandbox-kit.ts'

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Processes of the host whose command line holds this word. */
const named = (word: string): readonly number[] =>
  readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(word) ? [Number(name)] : []
    } catch {
      return []
    }
  })

/** The process at the end of the line, where the youngest child is followed. */
const innermost = (pid: number): number => {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return children === '' ? pid : innermost(Number(children.split(' ').at(-1)))
}

describe.each(backends)('a program in the sandbox, kept by %s,', (mode) => {
  const open = (options: Partial<SandboxOptions> = {}) => new SandboxKit({ mode, ...options })

  test('that forks without end gets no further than its limit', async () => {
    const bomb = `
      my $made = 0;
      for (1 .. 120) { my $child = fork; last unless defined $child; if (!$child) { sleep 60; exit } $made++ }
      print $made`
    await using kit = open()
    const { stdout } = await kit.perl(bomb, { limits: { processes: 20 } })
    expect(Number(stdout)).toBeGreaterThan(5)
    expect(Number(stdout)).toBeLessThan(20)
    await using loose = open({ without: ['limits'] })
    expect((await loose.perl(bomb, { limits: { processes: 20 } })).stdout).toBe('120')
  })

  test('that takes memory without end is refused more', async () => {
    const hog = `my $x = 'a' x (200 * 1024 * 1024); print length $x`
    const few = { limits: { memory_bytes: 100 * 1024 * 1024 } }
    await using kit = open()
    const stopped = await kit.perl(hog, few)
    expect(stopped.stdout).toBe('')
    expect([stopped.code, stopped.signal]).not.toEqual([0, null])
    await using loose = open({ without: ['limits'] })
    expect((await loose.perl(hog, few)).stdout).toBe(String(200 * 1024 * 1024))
  })

  test('that computes without end is ended by its share of the processor', async () => {
    await using kit = open()
    const { signal, usage } = await kit.perl('1 while 1', { limits: { cpu_seconds: 1 } })
    expect(signal).toMatch(/^SIG(XCPU|KILL)$/)
    // The kernel counts whole ticks for the limit, on a busy machine more of them than were used.
    expect(usage.cpu_ms).toBeGreaterThan(200)
    expect(usage.cpu_ms).toBeLessThan(3_000)
  })

  test('that fills the disk is ended at the largest file it may write', async () => {
    await using kit = open()
    const file = join(kit.workspace, 'big')
    const write = 'head -c 3000000 /dev/zero > big; echo $?'
    await kit.shell(write, { limits: { file_bytes: 1_000_000 } })
    expect(statSync(file).size).toBe(1_000_000)
    await using loose = open({ without: ['limits'] })
    await loose.shell(write, { limits: { file_bytes: 1_000_000 } })
    expect(statSync(join(loose.workspace, 'big')).size).toBe(3_000_000)
  })

  test('that talks without end is cut, and says so', async () => {
    await using kit = open()
    const loud = await kit.shell('head -c 3000000 /dev/zero | tr "\\0" x', {
      max_output_bytes: 1_000,
    })
    expect(loud).toMatchObject({ code: 0, stdout: 'x'.repeat(1_000), truncated: true })
    expect(await kit.shell('printf exact', { max_output_bytes: 5 })).toMatchObject({
      stdout: 'exact',
      truncated: false,
    })
  })

  test('that is not read waits, and goes on when it is', async () => {
    await using kit = open()
    const script = 'head -c 5000000 /dev/zero; touch after'
    const child = await kit.sandbox.spawn(kit.spec('/bin/sh', ['-c', script]))
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(existsSync(join(kit.workspace, 'after'))).toBe(false)
    let size = 0
    for await (const chunk of child.stdout) size += chunk.length
    expect(size).toBe(5_000_000)
    expect(await child.exited).toMatchObject({ code: 0, signal: null })
    expect(existsSync(join(kit.workspace, 'after'))).toBe(true)
  })

  test('that has ended before anybody reads it is heard all the same', async () => {
    await using kit = open()
    const child = await kit.sandbox.spawn(kit.spec('/bin/sh', ['-c', 'echo out; echo err >&2']))
    await child.exited
    await new Promise((resolve) => setTimeout(resolve, 50))
    let text = ''
    for (const stream of [child.stdout, child.stderr])
      for await (const chunk of stream) text += new TextDecoder().decode(chunk)
    expect(text).toBe('out\nerr\n')
  })

  test('that ignores being asked is gone soon after its deadline', async () => {
    await using kit = open()
    const started = performance.now()
    const result = await kit.perl(
      `$SIG{$_} = 'IGNORE' for qw(TERM INT HUP); print "up"; sleep 60`,
      // Time enough to get so far as to ignore it.
      { timeout_ms: 5_000 },
    )
    expect(performance.now() - started).toBeLessThan(30_000)
    expect(result).toMatchObject({ timed_out: true, code: null, signal: 'SIGKILL' })
  })

  test('that heeds being asked ends by itself, with all that it says', async () => {
    await using kit = open()
    const polite = `$| = 1; $SIG{TERM} = sub { print "bye"; exit 7 }; print "hello "; sleep 60`
    const result = await kit.perl(polite, { timeout_ms: 5_000 })
    expect(result).toMatchObject({ timed_out: true, code: 7, signal: null, stdout: 'hello bye' })
  })

  test('leaves nothing behind: neither a daemon, nor what left its group', async () => {
    await using kit = open()
    const word = `survivor-${process.pid}`
    const { stdout } = await kit.shell(
      `setsid sh -c 'sleep 61 # ${word}' & (setsid nohup sh -c 'sleep 62 # ${word}' >/dev/null 2>&1 &); sleep 0.2; echo done`,
    )
    expect(stdout).toBe('done\n')
    expect(named(word)).toEqual([])
  })

  test('ends when the caller turns away, and so does all that it started', async () => {
    await using kit = open()
    const word = `cancelled-${process.pid}`
    const turning = new AbortController()
    const running = kit.shell(`sh -c 'sleep 61 # ${word}' & sleep 62 # ${word}`, {
      signal: turning.signal,
      timeout_ms: 50_000,
    })
    await until(() => named(word).length > 1)
    turning.abort(new Error('enough'))
    const turned = performance.now()
    await expect(running).rejects.toThrow('enough')
    expect(performance.now() - turned).toBeLessThan(30_000)
    expect(named(word)).toEqual([])
  })

  test('gets the signals that are sent to it, and its input', async () => {
    await using kit = open()
    const child = await kit.sandbox.spawn(
      kit.spec('/usr/bin/perl', [
        '-e',
        `$| = 1; $SIG{INT} = sub { print "int"; exit 3 }; print <STDIN>; sleep 60`,
      ]),
    )
    await child.stdin.write(new TextEncoder().encode('fed\n'))
    child.stdin.end()
    let text = ''
    for await (const chunk of child.stdout) {
      text += new TextDecoder().decode(chunk)
      if (text === 'fed\n') child.signal('SIGINT')
    }
    expect(text).toBe('fed\nint')
    expect(await child.exited).toMatchObject({ code: 3, signal: null })
    expect(await child.end(1_000)).toMatchObject({ code: 3 })
  })

  test('is killed whole at once where nobody is to be asked', async () => {
    await using kit = open()
    const child = await kit.sandbox.spawn(kit.spec('sleep', ['60']))
    const started = performance.now()
    expect(await child.end(0)).toMatchObject({ code: null, signal: 'SIGKILL' })
    expect(performance.now() - started).toBeLessThan(30_000)
    expect(isAlive(child.pid)).toBe(false)
  })

  test('is killed whole even where the launcher inside hangs', async () => {
    await using kit = open()
    const word = `stuck-${process.pid}`
    const child = await kit.sandbox.spawn(kit.spec('sh', ['-c', `sleep 60 # ${word}`]))
    const inside = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
    process.kill(Number(inside.trim()), 'SIGSTOP')
    const started = performance.now()
    expect(await child.end(0)).toMatchObject({ usage: { cpu_ms: null } })
    expect(performance.now() - started).toBeLessThan(30_000)
    expect(named(word)).toEqual([])
  })

  test('says how much it used', async () => {
    await using kit = open()
    const { usage } = await kit.perl(
      `my $x = 'a' x (50 * 1024 * 1024); 1 for 1 .. 3_000_000; print length $x`,
    )
    expect(usage.memory_bytes_max).toBeGreaterThan(50 * 1024 * 1024)
    expect(usage.cpu_ms).toBeGreaterThan(20)
    expect(usage.duration_ms).toBeGreaterThanOrEqual(20)
  })

  test('comes after the service for the processor, and before it where memory ends', async () => {
    await using kit = open()
    // The shell speaks last: by then `nice`, a process of its own, has been waited for.
    const child = await kit.sandbox.spawn(kit.spec('sh', ['-c', 'nice; echo after; exec sleep 60']))
    let text = ''
    for await (const chunk of child.stdout) {
      text += new TextDecoder().decode(chunk)
      if (text.endsWith('after\n')) break
    }
    expect(text).toBe('5\nafter\n')
    const program = innermost(child.pid)
    expect(readFileSync(`/proc/${program}/oom_score_adj`, 'utf8')).toBe('1000\n')
  })

  test('is never handed to a shell: what the kernel cannot run is not run', async () => {
    await using kit = open()
    const file = join(kit.workspace, 'script')
    writeFileSync(file, 'touch ran\n', { mode: 0o755 })
    await expect(kit.run(file, [])).rejects.toMatchObject({ type: 'ProgramNotFound' })
    expect(existsSync(join(kit.workspace, 'ran'))).toBe(false)
    writeFileSync(file, '#!/bin/sh\ntouch ran\n', { mode: 0o755 })
    expect(await kit.run(file, [])).toMatchObject({ code: 0 })
    expect(existsSync(join(kit.workspace, 'ran'))).toBe(true)
  })

  test('that is not there, or has no place to run in, is named', async () => {
    await using kit = open()
    for (const program of ['no-such-program', '/no/such', kit.workspace])
      await expect(kit.run(program, [])).rejects.toMatchObject({
        type: 'ProgramNotFound',
        facts: { program },
      })
    const working_directory = join(kit.workspace, 'gone')
    await expect(kit.run('true', [], { working_directory })).rejects.toMatchObject({
      type: 'NotADirectory',
    })
    for (const word of ['a\0b', 'x'.repeat(200_000)])
      await expect(kit.run('true', [word])).rejects.toMatchObject({ type: 'SandboxRefused' })
  })

  test('gets exactly the words and variables that were meant, no shell between', async () => {
    await using kit = open()
    const words = ['; touch MARK', '$(touch MARK)', '`touch MARK`', '*', 'a\nb', 'ü', '']
    const { stdout } = await kit.run('printf', ['<%s>', ...words])
    expect(stdout).toBe(words.map((word) => `<${word}>`).join(''))
    const environment = { GREETING: 'grüß\nGott', PERL5OPT: '-Mstrict' }
    const { stdout: seen } = await kit.run('env', ['-0'], { environment })
    const own = join(kit.dataDir, 'sandbox-runs')
    const temporary = mode === 'landlock' ? expect.stringMatching(`^${own}/run-\\w+$`) : '/tmp'
    expect(
      Object.fromEntries(
        seen
          .split('\0')
          .slice(0, -1)
          .map((line) => {
            const at = line.indexOf('=')
            return [line.slice(0, at), line.slice(at + 1)]
          }),
      ),
    ).toEqual({
      ...environment,
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: temporary,
      TMPDIR: temporary,
      LANG: 'C.UTF-8',
    })
    expect(existsSync(join(kit.workspace, 'MARK'))).toBe(false)
  })

  test('uses what the service wrote before, and leaves what the service can use', async () => {
    await using kit = open()
    mkdirSync(join(kit.workspace, 'deep/er'), { recursive: true, mode: 0o700 })
    writeFileSync(join(kit.workspace, 'deep/er/a'), 'one', { mode: 0o600 })
    const { stdout } = await kit.shell(
      'cat deep/er/a; echo two >> deep/er/a; mkdir -m 700 new; echo in > new/b',
    )
    expect(stdout).toBe('one')
    expect(readFileSync(join(kit.workspace, 'deep/er/a'), 'utf8')).toBe('onetwo\n')
    writeFileSync(join(kit.workspace, 'new/b'), 'again')
    rmSync(join(kit.workspace, 'new'), { recursive: true })
  })

  test('ends with the service, however many there are', async () => {
    const kit = open()
    const word = `closing-${process.pid}`
    const children = await Promise.all(
      Array.from({ length: 4 }, () =>
        kit.sandbox.spawn(kit.spec('sh', ['-c', `sleep 60 # ${word}`])),
      ),
    )
    expect(named(word).length).toBeGreaterThanOrEqual(4)
    await kit[Symbol.asyncDispose]()
    expect(named(word)).toEqual([])
    for (const child of children) expect(await child.exited).toMatchObject({ code: null })
    await expect(kit.sandbox.spawn(kit.spec('true', []))).rejects.toMatchObject({
      type: 'SandboxUnavailable',
    })
  })
})
