import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { hasProgram } from '@gatehouse/testkit/programs'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { invoke, rpc } from '../support/server.ts'
import { survivors } from '../support/survivors.ts'
import { Siege } from './harness.ts'

const policy = `version: 1
rules:
  - match: process.run
    when: has(args.environment.ASKS)
    tier: approval_required
  - { match: "process.*", tier: autonomous }
limits:
  - { match: system.time, limit: 100000, window: 1m }
  - { match: "process.*", limit: 100000, window: 1m }
`

type Data = {
  readonly state: string
  readonly exit_code: number | null
  readonly stdout: string
  readonly stderr: string
  readonly truncated: boolean
  readonly process_id: string
}

describe.skipIf(!hasProgram('bwrap'))('processes', () => {
  let siege: Siege
  const at = (...names: string[]) => join(siege.alpha.workspace, ...names)
  const run = async (args: object) =>
    (await invoke(siege.run, siege.alpha.token, 'process.run', args)).result
  const ran = async (args: object): Promise<Data> => {
    const result = await run(args)
    if (!result?.success) throw new Error(JSON.stringify(result))
    return result.data as unknown as Data
  }
  /** Runs one by way of a person, and does something between the request and the decision. */
  const approvedAfter = async (args: object, change: () => void) => {
    const asked = await invoke(siege.run, siege.alpha.token, 'process.run', {
      ...args,
      environment: { ASKS: '1' },
    })
    const id = String(asked.error?.data?.['approval_id'])
    change()
    const decided = await siege.gate.cli(['approvals', 'approve', id, '--yes', '--json'])
    // The person is told of what changed meanwhile, and nothing is decided.
    if (decided.code !== 0)
      return {
        success: false,
        ...(JSON.parse(decided.stderr) as { readonly error: { readonly type: string } }),
      }
    const { result } = await rpc(siege.run, siege.alpha.token, 'approvals.wait', {
      approval_id: id,
      timeout_seconds: 60,
    })
    return result?.['result'] as {
      success: boolean
      data?: Data
      error?: { readonly type: string }
    }
  }

  beforeAll(async () => {
    siege = await Siege.begin()
    writeFileSync(join(siege.gate.dataDir, 'o.yaml'), policy)
    const set = await siege.gate.cli(['policy', 'set', join(siege.gate.dataDir, 'o.yaml')])
    if (set.code !== 0) throw new Error(set.stderr)
    mkdirSync(siege.alpha.workspace, { recursive: true })
    await ran({ command: 'true' })
  })
  afterEach(async () => {
    await siege.unharmed()
    // O7: nobody may make it.
    if (existsSync(at('MARK'))) throw new Error('somebody made MARK')
  })
  afterAll(() => siege.endAndClose())

  test('P01 what a shell would obey is an argument like any other', async () => {
    const hostile = [
      'ls; touch MARK',
      '$(touch MARK)',
      '`touch MARK`',
      'a\ntouch MARK',
      '&& touch MARK',
      '| touch MARK',
      '*',
      '> MARK',
    ]
    for (const text of hostile) {
      expect((await ran({ command: 'printf', args: ['%s', text] })).stdout).toBe(text)
      const named = await run({ command: text })
      expect(named).toMatchObject({ success: false })
    }
  })

  test('P02 variables that choose what runs are refused, others are passed on', async () => {
    for (const name of [
      'LD_PRELOAD',
      'NODE_OPTIONS',
      'BASH_ENV',
      'GIT_SSH_COMMAND',
      'PATH',
      'IFS',
      'PYTHONPATH',
    ])
      expect(await run({ command: 'true', environment: { [name]: 'x' } })).toMatchObject({
        success: false,
        error: { type: 'EnvironmentRefused' },
      })
    const { stdout } = await ran({ command: 'env', environment: { GREETING: 'hi' } })
    expect(stdout).toContain('GREETING=hi\n')
    expect(stdout).not.toContain(siege.canary)
  })

  test('P03 a fork bomb, a memory hog, a full disk, endless output and a long sleep meet their limits', async () => {
    const bomb =
      'use POSIX; for (1..100000) { my $p = fork; if (!defined $p) { print "refused"; last } if (!$p) { sleep 300; exit } }'
    const results = await Promise.all([
      ran({ command: 'perl', args: ['-e', bomb], timeout_seconds: 120 }),
      ran({ command: 'perl', args: ['-e', 'my @x; push @x, "x" x 10_000_000 while 1'] }),
      ran({ command: 'dd', args: ['if=/dev/zero', 'of=/tmp/full', 'bs=1M', 'count=100000'] }),
      ran({ command: 'yes', timeout_seconds: 5 }),
      ran({ command: 'sleep', args: ['300'], timeout_seconds: 2 }),
    ])
    const [forks, memory, disk, output, sleep] = results
    expect(forks?.stdout).toBe('refused')
    expect(memory?.exit_code).not.toBe(0)
    expect(disk?.exit_code).not.toBe(0)
    expect(output).toMatchObject({ state: 'timed_out', truncated: true })
    expect(output?.stdout).toHaveLength(65_536)
    expect(sleep).toMatchObject({ state: 'timed_out' })
  })

  test('P04 what was started aside is gone two seconds after the end', async () => {
    const marker = `aside-${Math.random().toString(36).slice(2)}`
    const idle = `$0 = "${marker}"; sleep 300`
    const script = `setsid perl -e '${idle}' & (perl -e '${idle}' &) ; nohup perl -e '${idle}' >/dev/null 2>&1 & sleep 0.3; exit 0`
    const { exit_code } = await ran({ command: 'sh', args: ['-c', script] })
    expect(exit_code).toBe(0)
    await expect.poll(() => survivors(marker)).toEqual([])
  })

  test('P05 no port of the service, no data of it and no process of the host is within reach', async () => {
    const { gateway_url, user_api_url, dashboard_url, wake_port, pid } = siege.run
    const ports = [gateway_url, user_api_url, dashboard_url].map((url) => new URL(url).port)
    const connect = `use IO::Socket::INET; for (@ARGV) { my ($proto, $port) = split /:/; my $s = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port, Proto => $proto, Timeout => 2); print $s && ($proto eq 'tcp' || send($s, '{"agent":"alpha"}', 0)) ? "open $_\\n" : "closed\\n" }`
    const tcp = await ran({
      command: 'perl',
      args: ['-e', connect, ...ports.map((port) => `tcp:${port}`)],
    })
    expect(tcp.stdout).toBe('closed\n'.repeat(3))
    const wakes = async () =>
      (
        await siege.gate.json<{ entries: unknown[] }>([
          'audit',
          'query',
          '--capability',
          'agent.woken',
        ])
      ).entries.length
    const before = await wakes()
    await ran({ command: 'perl', args: ['-e', connect, `udp:${wake_port}`] })
    expect(await wakes()).toBe(before)
    const { dataDir } = siege.gate
    for (const file of ['cli-token', 'gatehouse.db', 'vault.key', 'run.json', 'audit']) {
      expect(existsSync(join(dataDir, file))).toBe(true)
      const { exit_code, stdout } = await ran({ command: 'cat', args: [join(dataDir, file)] })
      expect([exit_code, stdout]).toEqual([1, ''])
    }
    const environ = await ran({
      command: 'sh',
      args: ['-c', `cat /proc/*/environ; cat /proc/${pid}/environ; cat /proc/*/cmdline`],
    })
    expect(environ.stdout).not.toContain(siege.canary)
    expect(environ.stdout).not.toContain('serve')
    const trace = 'my $r = syscall(101, 16, $ARGV[0], 0, 0); print $r == -1 ? "refused" : "traced"'
    expect((await ran({ command: 'perl', args: ['-e', trace, String(pid)] })).stdout).toBe(
      'refused',
    )
    const shown = await ran({ command: 'ls', args: [dataDir] })
    expect(shown.stdout).toBe('workspaces\n')
  })

  describe('P06 after the approval was asked for', () => {
    const evil = () => `#!/bin/sh\ntouch '${at('MARK')}'\n`
    const script = (path: string, text: string) => {
      writeFileSync(path, text)
      chmodSync(path, 0o755)
    }

    test('a changed script is refused', async () => {
      script(at('job.sh'), '#!/bin/sh\necho good\n')
      const outcome = await approvedAfter({ command: 'sh', args: ['job.sh'] }, () =>
        writeFileSync(at('job.sh'), evil()),
      )
      expect(outcome).toMatchObject({ success: false, error: { type: 'ApprovalStale' } })
    })

    test('a replaced binary is refused', async () => {
      script(at('tool'), '#!/bin/sh\necho good\n')
      const outcome = await approvedAfter({ command: './tool' }, () => {
        script(at('new'), evil())
        renameSync(at('new'), at('tool'))
      })
      expect(outcome).toMatchObject({ success: false, error: { type: 'ApprovalStale' } })
    })

    test('a folder on the way that was swapped for a link is refused', async () => {
      mkdirSync(at('a', 'in'), { recursive: true })
      mkdirSync(at('b', 'in'), { recursive: true })
      const args = { command: 'touch', args: ['ran'], working_directory: 'a/in' }
      const outcome = await approvedAfter(args, () => {
        renameSync(at('a'), at('c'))
        symlinkSync('b', at('a'))
      })
      expect(outcome).toMatchObject({ success: false, error: { type: 'ApprovalStale' } })
      expect(existsSync(at('b', 'in', 'ran'))).toBe(false)
    })

    test('what was left alone runs', async () => {
      script(at('fine.sh'), '#!/bin/sh\necho "$1" >written.txt; echo fine\n')
      const outcome = await approvedAfter({ command: './fine.sh', args: ['x'] }, () => {})
      expect(outcome).toMatchObject({ success: true, data: { stdout: 'fine\n', exit_code: 0 } })
      expect(readFileSync(at('written.txt'), 'utf8')).toBe('x\n')
    })
  })
})
