import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import type { FilterPart } from '../../src/sandbox/seccomp.ts'
import { judged, numberOf, refused, type Syscalls } from '../../src/sandbox/syscalls.ts'
import { SandboxKit } from './sandbox-kit.ts'

const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
const numbers: Syscalls = { ...refused, ...judged }
const call = (name: string): number => numberOf(numbers[name] ?? [null, null], machine) ?? -1

const errors = { EPERM: 1, EACCES: 13, ENOSYS: 38, EAFNOSUPPORT: 97 } as const

type Case = {
  readonly what: string
  /** Perl that makes the call; its value says whether it went through. */
  readonly script: string
  readonly refusal: keyof typeof errors
  /** What of the filter refuses it; left out, the kernel answers something else. */
  readonly by: FilterPart
  /** Some kernels refuse it in the same way by themselves. */
  readonly kernelMayToo?: true
}

// Each is harmless where it goes through, and would be answered differently by the kernel itself.
const cases: readonly Case[] = [
  { what: 'keyctl', script: `syscall(${call('keyctl')}, 0, -3, 0)`, refusal: 'EPERM', by: 'calls' },
  {
    what: 'ptrace',
    script: `syscall(${call('ptrace')}, 0, 0, 0, 0)`,
    refusal: 'EPERM',
    by: 'calls',
  },
  {
    what: 'looking into the memory of another process',
    script: `syscall(${call('process_vm_readv')}, $$, 0, 0, 0, 0, 0)`,
    refusal: 'EPERM',
    by: 'calls',
  },
  {
    what: 'taking descriptors of another process',
    script: `syscall(${call('pidfd_getfd')}, -1, 0, 0)`,
    refusal: 'EPERM',
    by: 'calls',
  },
  {
    what: 'io_uring',
    script: `syscall(${call('io_uring_setup')}, 0, 0)`,
    refusal: 'EPERM',
    by: 'calls',
    kernelMayToo: true,
  },
  { what: 'setns', script: `syscall(${call('setns')}, -1, 0)`, refusal: 'EPERM', by: 'calls' },
  {
    what: 'open_tree',
    script: `syscall(${call('open_tree')}, -1, $none, 0)`,
    refusal: 'EPERM',
    by: 'calls',
  },
  {
    what: 'a user namespace by unshare',
    script: `syscall(${call('unshare')}, 0x10000000)`,
    refusal: 'EPERM',
    by: 'namespaces',
  },
  {
    what: 'a user namespace by clone',
    script: `syscall(${call('clone')}, 0x10000000 | 17, 0, 0, 0, 0)`,
    refusal: 'EPERM',
    by: 'namespaces',
  },
  {
    what: 'clone3',
    script: `syscall(${call('clone3')}, 0, 0)`,
    refusal: 'ENOSYS',
    by: 'namespaces',
  },
  {
    what: 'openat2',
    script: `syscall(${call('openat2')}, -1, $none, 0, 0)`,
    refusal: 'ENOSYS',
    by: 'set-id',
  },
  {
    what: 'typing into the terminal',
    script: `ioctl(STDOUT, 0x5412, $none)`,
    refusal: 'EPERM',
    by: 'terminal',
  },
  {
    what: 'a packet socket',
    script: `socket(my $s, 17, 3, 0)`,
    refusal: 'EAFNOSUPPORT',
    by: 'sockets',
  },
  {
    what: 'a socket to the hypervisor',
    script: `socket(my $s, 40, 1, 0)`,
    refusal: 'EAFNOSUPPORT',
    by: 'sockets',
    kernelMayToo: true,
  },
  {
    what: 'the crypto interface',
    script: `socket(my $s, 38, 5, 0)`,
    refusal: 'EAFNOSUPPORT',
    by: 'sockets',
    kernelMayToo: true,
  },
  {
    what: 'what came later',
    script: `syscall(463, -1, 0, 0, 0, 0, 0)`,
    refusal: 'ENOSYS',
    by: 'future',
  },
]

const answers = async (kit: SandboxKit): Promise<Readonly<Record<string, string>>> => {
  const lines = cases.map(
    ({ script }, at) => `
      if (my $child = fork) { waitpid $child, 0 } else {
        my $done = ${script};
        my $errno = $! + 0;
        print "${at} ", (defined $done && $done ne '' && $done >= 0 ? 'done' : $errno), "\\n";
        exit;
      }`,
  )
  const { stdout } = await kit.perl(`$| = 1; my $none = ""; ${lines.join('\n')}`)
  return Object.fromEntries(
    stdout.split('\n').flatMap((line) => {
      const [at, answer] = line.split(' ')
      return answer === undefined ? [] : [[cases[Number(at)]?.what, answer]]
    }),
  )
}

describe.skipIf(!hasProgram('bwrap'))('the filter of system calls', () => {
  test('refuses each by the errno that programs expect', async () => {
    await using kit = new SandboxKit()
    const found = await answers(kit)
    expect(found).toEqual(
      Object.fromEntries(cases.map(({ what, refusal }) => [what, String(errors[refusal])])),
    )
  })

  const parts = [...new Set(cases.map(({ by }) => by))]
  test.each(parts)(
    'without its part "%s" what that refused is answered by the kernel',
    async (part) => {
      await using kit = new SandboxKit({ without: [part] })
      const found = await answers(kit)
      for (const { what, refusal, by, kernelMayToo } of cases)
        if (by === part && kernelMayToo) continue
        else if (by === part)
          expect([what, found[what]]).not.toEqual([what, String(errors[refusal])])
        else expect([what, found[what]]).toEqual([what, String(errors[refusal])])
    },
  )

  test('is not the only lock on user namespaces: bubblewrap forbids them by itself', async () => {
    const nest = `print syscall(${call('unshare')}, 0x10000000) == 0 ? 'made' : 'refused'`
    await using closed = new SandboxKit({ without: ['namespaces'] })
    expect((await closed.perl(nest)).stdout).toBe('refused')
    await using open = new SandboxKit({ without: ['namespaces', 'nesting'] })
    expect((await open.perl(nest)).stdout).toBe('made')
  })

  test('leaves a child that asks for it nothing but Unix sockets', async () => {
    const ask = `print join ',', map { socket(my $s, $_, 1, 0) ? 'yes' : $! + 0 } 1, 2, 10`
    await using kit = new SandboxKit()
    expect((await kit.perl(ask)).stdout).toBe('yes,yes,yes')
    const network = { kind: 'none', unix_only: true } as const
    expect((await kit.perl(ask, { network })).stdout).toBe('yes,97,97')
  })

  test.skipIf(machine !== 'x86_64')(
    'kills what calls by the numbers of another machine',
    async () => {
      const x32 = `syscall(0x40000000 | 39); print 'alive'`
      await using kit = new SandboxKit()
      expect(await kit.perl(x32)).toMatchObject({ signal: 'SIGSYS', stdout: '' })
      await using open = new SandboxKit({ without: ['architecture', 'future'] })
      expect(await open.perl(x32)).toMatchObject({ code: 0, stdout: 'alive' })
    },
  )

  test('lets what people run in it work: threads, archives, locks, a server of its own', async () => {
    await using kit = new SandboxKit()
    const { stdout, stderr } = await kit.run(
      process.execPath,
      [
        '-e',
        `const { Worker } = require('node:worker_threads');
         const http = require('node:http');
         const { execFileSync } = require('node:child_process');
         const server = http.createServer((_, answer) => answer.end('served')).listen(0, '127.0.0.1', async () => {
           const text = await (await fetch('http://127.0.0.1:' + server.address().port)).text();
           execFileSync('tar', ['-cf', 'a.tar', '--files-from', '/dev/null']);
           new Worker('require("worker_threads").parentPort.postMessage("thread")', { eval: true })
             .on('message', (word) => { console.log(text, word); process.exit() });
         });`,
      ],
      { limits: { memory_bytes: 2 ** 31 } },
    )
    expect({ stdout, stderr }).toEqual({ stdout: 'served thread\n', stderr: '' })
  })
})
