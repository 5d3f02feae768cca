import { hasProgram } from '@gatehouse/testkit/programs'
import { describe, expect, test } from 'vitest'
import type { FilterPart } from '../../src/sandbox/seccomp.ts'
import {
  judged,
  numberOf,
  refused,
  refusedShared,
  type Syscalls,
} from '../../src/sandbox/syscalls.ts'
import { backends, SandboxKit } from './sandbox-kit.ts'

const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
const { attributes, watching, ipc } = refusedShared
const numbers: Syscalls = { ...refused, ...judged, ...attributes, ...watching, ...ipc }
const call = (name: string): number => numberOf(numbers[name] ?? [null, null], machine) ?? -1

const errors = { EPERM: 1, EACCES: 13, ENOSYS: 38, EAFNOSUPPORT: 97 } as const

type Case = {
  readonly what: string
  /** Perl that makes the call; its value says whether it went through. */
  readonly script: string
  readonly refusal: keyof typeof errors
  /** Part of the filter that refuses the call; left out, the kernel answers something else. */
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

// Refused only where the namespaces of the host are shared. Each would be done to a file of its own, or to a process or user that is not there.
const sharedCases: readonly Case[] = (
  [
    [
      'changing an owner by path',
      `syscall(${call('fchownat')}, -100, $own, $< + 0, -1, 0)`,
      'attributes',
    ],
    [
      'changing times by path',
      `syscall(${call('utimensat')}, -100, $own, $times, 0)`,
      'attributes',
    ],
    [
      'an attribute by path',
      `syscall(${call('setxattr')}, $own, $name, $none, 0, 0)`,
      'attributes',
    ],
    ['a watch', `syscall(${call('inotify_add_watch')}, -1, $own, 2)`, 'watching'],
    ['shared memory', `syscall(${call('shmget')}, 0, 4096, 01600)`, 'ipc'],
    ['a message queue', `syscall(${call('msgget')}, 0, 01600)`, 'ipc'],
    ['semaphores', `syscall(${call('semget')}, 0, 1, 01600)`, 'ipc'],
    ['the limits of another', `syscall(${call('prlimit64')}, 99999999, 7, 0, $much)`, 'others'],
    ['the priority of another', `syscall(${call('setpriority')}, 0, 99999999, 5)`, 'others'],
    ['the priority of a user', `syscall(${call('setpriority')}, 2, 99999999, 6)`, 'others'],
    ['the turns of a user', `syscall(${call('ioprio_set')}, 3, 99999999, 0x4007)`, 'others'],
    [
      'the processors of another',
      `syscall(${call('sched_setaffinity')}, 99999999, 8, $much)`,
      'others',
    ],
    ['datagrams to anybody', `socketpair(my $one, my $two, 1, 2, 0)`, 'sockets'],
    ['connecting', `syscall(${call('connect')}, -1, $none, 0)`, 'sockets'],
  ] as const
).map(([what, script, by]) => ({ what, script, by, refusal: 'EPERM' }))

const answers = async (
  kit: SandboxKit,
  asked: readonly Case[],
): Promise<Readonly<Record<string, string>>> => {
  const lines = asked.map(
    ({ script }, at) => `
      if (my $child = fork) { waitpid $child, 0 } else {
        my $done = ${script};
        my $errno = $! + 0;
        print "${at} ", (defined $done && $done ne '' && $done >= 0 ? 'done' : $errno), "\\n";
        exit;
      }`,
  )
  const { stdout } = await kit.perl(`
    $| = 1;
    my ($none, $own, $name, $much, $times) = ('', 'own', 'user.a', "\\1" x 16, "\\0" x 32);
    open(my $made, '>', $own); close $made;
    ${lines.join('\n')}`)
  return Object.fromEntries(
    stdout.split('\n').flatMap((line) => {
      const [at, answer] = line.split(' ')
      return answer === undefined ? [] : [[asked[Number(at)]?.what, answer]]
    }),
  )
}

describe.each(backends)('the filter of system calls, with %s,', (mode) => {
  const asked = [...cases, ...(mode === 'landlock' ? sharedCases : [])]

  test('refuses each by the errno that programs expect', async () => {
    await using kit = new SandboxKit({ mode })
    const found = await answers(kit, asked)
    expect(found).toEqual(
      Object.fromEntries(asked.map(({ what, refusal }) => [what, String(errors[refusal])])),
    )
  })

  const parts = [...new Set(asked.map(({ by }) => by))]
  test.each(parts)(
    'without its part "%s" what that refused is answered by the kernel',
    async (part) => {
      await using kit = new SandboxKit({ mode, without: [part] })
      const found = await answers(kit, asked)
      for (const { what, refusal, by, kernelMayToo } of asked)
        if (by === part && kernelMayToo) continue
        else if (by === part)
          expect([what, found[what]]).not.toEqual([what, String(errors[refusal])])
        else expect([what, found[what]]).toEqual([what, String(errors[refusal])])
    },
  )
})

describe.skipIf(!hasProgram('bwrap'))('the filter of system calls', () => {
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
