import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Kit } from '@gatehouse/testkit'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { asking, openProcessKit } from './process-kit.ts'

describe.skipIf(!hasProgram('bwrap'))('an approved process.run', () => {
  let kit: Kit
  const at = (...names: string[]) => join(kit.workspace('alpha'), ...names)
  const script = (name: string, text: string) => {
    writeFileSync(at(name), text)
    chmodSync(at(name), 0o755)
  }
  const ask = (args: object) => kit.pending('alpha', 'process.run', args)
  const approved = async (id: string) => {
    await kit.decide(id, 'approve')
    return (await kit.resolved('alpha', id)).result
  }
  /** The person is told before anything runs, and the request stays to be rejected. */
  const expectStale = async (id: string) => {
    await expect(kit.decide(id, 'approve')).rejects.toMatchObject({ type: 'ApprovalStale' })
    const record = await kit.app.showApproval(kit.operator(), { approval_id: id })
    expect(record).toMatchObject({ status: 'pending', execution: { state: 'waiting' } })
    expect(record.stale).not.toBeNull()
  }
  const stdoutOf = async (id: string) => {
    const result = await approved(id)
    if (!result?.success) throw new Error(JSON.stringify(result))
    return result.data['stdout']
  }
  const shown = async (id: string) =>
    (await kit.app.showApproval(kit.operator(), { approval_id: id })).preview

  beforeEach(async () => {
    kit = await openProcessKit(asking)
  })
  afterEach(() => kit[Symbol.asyncDispose]())

  test('shows a person the whole of it, with the ends of each argument', async () => {
    mkdirSync(at('sub'))
    writeFileSync(at('sub', 'a.sh'), 'echo')
    const id = await ask({
      command: 'sh',
      args: ['a.sh', 'two words', "it's", '', '\u202Etxt', 'line\nbreak'],
      working_directory: 'sub',
      environment: { CI: '1', NAME: 'a b' },
      stdin: 'four',
      timeout_seconds: 20,
    })
    expect(await shown(id)).toEqual({
      kind: 'command',
      text: [
        String.raw`sh a.sh 'two words' 'it'\''s' '' $'\u202etxt' $'line\nbreak'`,
        'program: /usr/bin/sh',
        `in: ${at('sub')}`,
        "with: CI=1 'NAME=a b'",
        `reads, as it is now: ${at('sub', 'a.sh')}`,
        'input: 4 bytes',
        'network: none',
        'sandbox: bubblewrap',
        'may run for up to 20 s',
      ].join('\n'),
    })
  })

  test('runs what was shown, and hands its result over', async () => {
    script('build.sh', '#!/bin/sh\necho "$@"')
    expect(await stdoutOf(await ask({ command: './build.sh', args: ['fast'] }))).toBe('fast\n')
    expect(await stdoutOf(await ask({ command: 'sh', args: ['build.sh', 'slow'] }))).toBe('slow\n')
  })

  test('of a script finds what stands beside it and above it, and writes where it runs', async () => {
    mkdirSync(at('scripts', 'lib'), { recursive: true })
    writeFileSync(at('top.txt'), 'top')
    writeFileSync(at('scripts', 'lib', 'part.sh'), 'echo part')
    writeFileSync(at('scripts', 'side.sh'), 'echo side')
    script(
      'scripts/run.sh',
      '#!/bin/sh\nhere=$(dirname "$0"); . "$here/side.sh"; . "$here/lib/part.sh"; cat "$here/../top.txt"; echo made >made.txt',
    )
    expect(await stdoutOf(await ask({ command: './scripts/run.sh' }))).toBe('side\npart\ntop')
    expect(readFileSync(at('made.txt'), 'utf8')).toBe('made\n')
  })

  test.each([
    ['a program', { command: './tool.sh' }],
    ['a script', { command: 'sh', args: ['tool.sh'] }],
    ['a file that an argument names', { command: 'sed', args: ['-n', '-f', 'tool.sh', 'tool.sh'] }],
    ['a file behind an equals sign', { command: 'sed', args: ['-n', '--file=tool.sh'] }],
  ])('is refused when %s was changed meanwhile', async (_what, args) => {
    script('tool.sh', '#p')
    const id = await ask(args)
    writeFileSync(at('tool.sh'), `#!/bin/sh\ntouch ${at('MARK')}\n`)
    await expectStale(id)
    expect(existsSync(at('MARK'))).toBe(false)
  })

  test('is refused when what it names is gone, and not tried for ever', async () => {
    script('tool.sh', '')
    const id = await ask({ command: './tool.sh' })
    rmSync(at('tool.sh'))
    await expectStale(id)
  })

  test('is refused when a folder on the way was swapped for a link', async () => {
    mkdirSync(at('a', 'work'), { recursive: true })
    mkdirSync(at('b', 'work'), { recursive: true })
    const id = await ask({ command: 'touch', args: ['MARK'], working_directory: 'a/work' })
    renameSync(at('a'), at('c'))
    symlinkSync('b', at('a'))
    await expectStale(id)
    expect(existsSync(at('b', 'work', 'MARK'))).toBe(false)
  })

  test('is refused when policy names other hosts meanwhile, or blocks it', async () => {
    const withHosts = (hosts: string) =>
      `version: 1\nrules:\n  - { match: process.run, tier: approval_required, network: [${hosts}] }\n`
    await kit.app.savePolicy(kit.operator(), { text: withHosts('"a.example:443"') })
    const id = await ask({ command: 'true' })
    expect(await shown(id)).toMatchObject({
      text: expect.stringContaining('network: a.example:443\n'),
    })
    await kit.app.savePolicy(kit.operator(), {
      text: withHosts('"a.example:443", "b.example:443"'),
    })
    await expectStale(id)
    const again = await ask({ command: 'true', args: ['x'] })
    await kit.app.savePolicy(kit.operator(), {
      text: 'version: 1\nrules:\n  - { match: process.run, tier: blocked }\n',
    })
    await expectStale(again)
  })

  test('asks nobody about a program that there is none of, and records that', async () => {
    const outcome = await kit.invoke('alpha', 'process.run', { command: 'no-such-program-xyz' })
    expect(outcome).toMatchObject({ kind: 'failed', error: { type: 'ProgramNotFound' } })
    const [entry] = await kit.audit({ agent: 'alpha', capability: 'process.run' })
    expect(entry).toMatchObject({ result: 'error', error: { type: 'ProgramNotFound' } })
  })

  test('goes on in the background once it was approved', async () => {
    const id = await ask({ command: 'sleep', args: ['1000'], background: true })
    const result = await approved(id)
    expect(result).toMatchObject({ success: true, data: { state: 'running' } })
    const { processes } = await kit.app.listProcesses(kit.operator(), { limit: 5, offset: 0 })
    expect(processes).toMatchObject([{ state: 'running', background: true }])
  })

  test('that is remembered runs again as long as it is the same script, and asks for another', async () => {
    script('build.sh', '#!/bin/sh\necho one')
    const args = { command: './build.sh' }
    const id = await ask(args)
    await kit.decide(id, 'approve', { remember: { match: 'same_arguments', ttl_seconds: 60 } })
    await kit.resolved('alpha', id)
    const again = async () => kit.invoke('alpha', 'process.run', args)
    // The first repetition hands over the result of what was approved.
    expect(await again()).toMatchObject({ kind: 'succeeded' })
    expect(await again()).toMatchObject({ kind: 'succeeded', data: { stdout: 'one\n' } })
    script('build.sh', `#!/bin/sh\ntouch ${at('MARK')}`)
    expect(await again()).toMatchObject({ kind: 'pending' })
    expect(existsSync(at('MARK'))).toBe(false)
  })

  test('leaves no copy of what it ran', async () => {
    script('build.sh', '#!/bin/sh\n')
    await approved(await ask({ command: './build.sh' }))
    await expect.poll(() => readdirSync(join(kit.folder, 'processes', 'copies'))).toEqual([])
  })
})
