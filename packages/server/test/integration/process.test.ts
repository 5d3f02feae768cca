import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kit } from '@gatehouse/testkit'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { survivors } from '../../../../test/support/survivors.ts'
import { dataOf, failureOf, openProcessKit } from './process-kit.ts'

describe.skipIf(!hasProgram('bwrap'))('process.run in the sandbox', () => {
  let kit: Kit
  const at = (...names: string[]) => join(kit.workspace('alpha'), ...names)
  const run = (args: object) => kit.invoke('alpha', 'process.run', args)
  const ran = async (args: object) => dataOf(await run(args))

  beforeAll(async () => {
    kit = await openProcessKit()
  })
  afterAll(() => kit[Symbol.asyncDispose]())

  test('passes each argument on as it is, whatever a shell would make of it', async () => {
    const args = ['a b', '; touch MARK', '$(touch MARK)', '`id`', '&&', '|', '*', '\n', "'", '\\']
    const { stdout, exit_code } = await ran({
      command: 'perl',
      args: ['-e', 'print join("\\0", @ARGV)', '--', ...args],
    })
    expect(exit_code).toBe(0)
    expect(stdout.split('\0')).toEqual(args)
    expect(existsSync(at('MARK'))).toBe(false)
  })

  test('answers how it ended, what it wrote, what it took, and in which sandbox', async () => {
    const result = await ran({ command: 'sh', args: ['-c', 'echo out; echo err >&2; exit 3'] })
    expect(result).toMatchObject({
      state: 'completed',
      exit_code: 3,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
      truncated: false,
      resource_usage: { cpu_ms: expect.any(Number), memory_bytes_max: expect.any(Number) },
    })
    expect(result.duration_ms).toBeGreaterThan(0)
    const [entry] = await kit.audit({ agent: 'alpha', capability: 'process.run' })
    expect(entry?.detail).toMatchObject({ sandbox: 'bubblewrap', process_id: result.process_id })
  })

  test('says which signal ended it', async () => {
    expect(await ran({ command: 'sh', args: ['-c', 'kill -SEGV $$'] })).toMatchObject({
      state: 'killed',
      exit_code: null,
      signal: 'SIGSEGV',
    })
  })

  test('runs a program of the agent by a path, and one of the system by its name or its path', async () => {
    mkdirSync(at('tools'))
    writeFileSync(at('tools', 'hello'), '#!/bin/sh\necho hello from "$(basename "$0")"\n')
    chmodSync(at('tools', 'hello'), 0o755)
    const inside = await ran({ command: './hello', working_directory: 'tools' })
    expect(inside.stdout).toBe('hello from hello\n')
    expect((await ran({ command: at('tools', 'hello') })).stdout).toBe('hello from hello\n')
    expect((await ran({ command: '/usr/bin/printf', args: ['x'] })).stdout).toBe('x')
    expect(failureOf(await run({ command: 'hello', working_directory: 'tools' }))).toBe(
      'ProgramNotFound',
    )
  })

  test.each([
    ['a program that there is none of', { command: 'no-such-program-xyz' }, 'ProgramNotFound'],
    ['a path that leads nowhere', { command: './nothing' }, 'ProgramNotFound'],
    ['a folder', { command: './sub' }, 'IsADirectory'],
    ['a path outside', { command: '../../../bin/true' }, 'PathOutOfScope'],
    ['a place of the host', { command: '/opt/tool' }, 'PathOutOfScope'],
    ['a batch file', { command: './x.bat' }, 'NotExecutable'],
    ['a file that is none', { command: './plain.txt' }, 'NotExecutable'],
    [
      'a folder to run in that is a file',
      { command: 'true', working_directory: 'plain.txt' },
      'NotADirectory',
    ],
    ['a folder to run in outside', { command: 'true', working_directory: '..' }, 'PathOutOfScope'],
    [
      'a folder to run in that is not there',
      { command: 'true', working_directory: 'no' },
      'FileNotFound',
    ],
    ['a NUL in the command', { command: 'tr\0ue' }, 'InvalidArguments'],
    ['a NUL in an argument', { command: 'true', args: ['a\0'] }, 'InvalidArguments'],
    ['a NUL in a variable', { command: 'true', environment: { A: '\0' } }, 'InvalidArguments'],
    ['a time that is too long', { command: 'true', timeout_seconds: 3_601 }, 'InvalidArguments'],
    [
      'an output that is too large',
      { command: 'true', max_output_bytes: 1_048_577 },
      'InvalidArguments',
    ],
  ])('refuses %s', async (_what, args, type) => {
    mkdirSync(at('sub'), { recursive: true })
    writeFileSync(at('plain.txt'), 'x')
    writeFileSync(at('bare.sh'), 'echo', { mode: 0o755 })
    writeFileSync(at('x.bat'), '#!/bin/sh\n', { mode: 0o755 })
    expect(failureOf(await run(args))).toBe(type)
  })

  test('refuses a variable that makes programs load something else, by name', async () => {
    const outcome = await run({ command: 'true', environment: { LD_PRELOAD: './x.so' } })
    expect(outcome).toMatchObject({
      kind: 'failed',
      error: { type: 'EnvironmentRefused', message: expect.stringContaining('LD_PRELOAD') },
    })
    const { stdout } = await ran({ command: 'env', environment: { GREETING: 'hi there', CI: '1' } })
    expect(stdout.trim().split('\n').toSorted()).toEqual([
      'CI=1',
      'GREETING=hi there',
      'HOME=/tmp',
      'LANG=C.UTF-8',
      'PATH=/usr/local/bin:/usr/bin:/bin',
      'TMPDIR=/tmp',
    ])
  })

  test('feeds it its input, and gives it an empty one otherwise', async () => {
    expect((await ran({ command: 'sort', stdin: 'b\na\n' })).stdout).toBe('a\nb\n')
    expect((await ran({ command: 'cat' })).stdout).toBe('')
    // The program ends without reading: the rest of its input is nobody's loss.
    expect((await ran({ command: 'true', stdin: 'x'.repeat(1_000_000) })).exit_code).toBe(0)
  })

  test('keeps the first bytes of each stream, and says that there was more', async () => {
    const print = 'print "x" x 200_000; print STDERR "é" x 10'
    const cut = await ran({ command: 'perl', args: ['-e', print], max_output_bytes: 11 })
    expect(cut).toMatchObject({ truncated: true, exit_code: 0 })
    expect(cut.stdout).toBe('x'.repeat(11))
    expect(cut.stderr).toBe('é'.repeat(5))
    const whole = await ran({ command: 'perl', args: ['-e', print], max_output_bytes: 200_000 })
    expect(whole).toMatchObject({ truncated: false })
    expect(whole.stdout).toHaveLength(200_000)
  })

  test('sees and changes its folders, reads those that are read-only, and nothing else', async () => {
    const outside = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-mounts-')))
    onTestFinished(() => rmSync(outside, { recursive: true }))
    chmodSync(outside, 0o755)
    const mounts = ['shared', 'reference'].map((name) => {
      mkdirSync(join(outside, name))
      chmodSync(join(outside, name), 0o777)
      writeFileSync(join(outside, name, 'file.txt'), name)
      return join(outside, name)
    })
    const [shared = '', reference = ''] = mounts
    const { token } = await kit.app.createAgent(kit.operator(), {
      name: 'mounted',
      purpose: '',
      approvals: 'pending',
      mounts: [
        { path: shared, read_only: false },
        { path: reference, read_only: true },
      ],
      tools: [],
      limits: [],
    })
    await kit.authenticate(token)
    const script = `cat ${shared}/file.txt ${reference}/file.txt; echo new >${shared}/new.txt; echo own >own.txt
      echo no >${reference}/no.txt || echo refused; ls ${outside} ${kit.folder}`
    const { stdout } = dataOf(
      await kit.invoke('mounted', 'process.run', { command: 'sh', args: ['-c', script] }),
    )
    expect(stdout).toBe(
      `sharedreferencerefused\n${kit.folder}:\nworkspaces\n\n${outside}:\nreference\nshared\n`,
    )
    expect(readFileSync(join(shared, 'new.txt'), 'utf8')).toBe('new\n')
    expect(readFileSync(join(kit.workspace('mounted'), 'own.txt'), 'utf8')).toBe('own\n')
    expect(existsSync(join(reference, 'no.txt'))).toBe(false)
    const there = dataOf(
      await kit.invoke('mounted', 'process.run', { command: 'pwd', working_directory: shared }),
    )
    expect(there.stdout).toBe(`${shared}\n`)
  })

  test('runs where a link inside leads, and never where one leads outside', async () => {
    mkdirSync(at('real'), { recursive: true })
    symlinkSync('real', at('link'))
    symlinkSync('/etc', at('out'))
    const { stdout } = await ran({ command: 'pwd', args: ['-P'], working_directory: 'link' })
    expect(stdout).toBe(`${at('real')}\n`)
    expect(failureOf(await run({ command: 'pwd', working_directory: 'out' }))).toBe(
      'PathOutOfScope',
    )
  })

  test('ends what takes too long, with all that it started', async () => {
    const marker = `sleep-${Math.random().toString(36).slice(2)}`
    const script = `perl -e '$0 = "${marker}"; sleep 100' & setsid perl -e '$0 = "${marker}"; sleep 100' & sleep 100`
    const running = run({ command: 'sh', args: ['-c', script], timeout_seconds: 5 })
    await expect.poll(() => survivors(marker).length).toBeGreaterThanOrEqual(2)
    // Its programs are there a moment before its time is counted, and it is listed once that is.
    const listed = () => kit.run('alpha', 'process.list', { state: 'running' })
    await expect.poll(listed).toMatchObject({ total: 1 })
    kit.clock.move(5_000)
    expect(dataOf(await running)).toMatchObject({ state: 'timed_out', exit_code: null })
    expect(survivors(marker)).toEqual([])
  })

  test('ends it when its caller goes away', async () => {
    const leaving = new AbortController()
    const marker = `gone-${Math.random().toString(36).slice(2)}`
    const running = kit.invoke(
      'alpha',
      'process.run',
      { command: 'perl', args: ['-e', `$0 = "${marker}"; sleep 100`] },
      { signal: leaving.signal },
    )
    await expect.poll(() => survivors(marker).length).toBe(1)
    leaving.abort()
    expect(failureOf(await running)).toBe('Cancelled')
    expect(survivors(marker)).toEqual([])
  })

  test('holds it to its memory and its processor time', async () => {
    const hog = 'my $x = "x" x 100_000_000; print length $x'
    const limited = { command: 'perl', args: ['-e', hog], memory_limit_bytes: 64 * 1024 * 1024 }
    expect((await ran(limited)).stdout).toBe('')
    expect((await ran({ command: 'perl', args: ['-e', hog] })).stdout).toBe('100000000')
    const spin = await ran({ command: 'perl', args: ['-e', '1 while 1'], cpu_limit: 1 })
    expect(spin.state).toBe('killed')
  })
})
