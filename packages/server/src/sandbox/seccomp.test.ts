import { expect, test } from 'vitest'
import { createFilter, type FilterOptions } from './seccomp.ts'
import { judged, type Machine, newest, numberOf, refused, refusedShared } from './syscalls.ts'

const verdicts = new Map([
  [0x7fff0000, 'allow'],
  [0x80000000, 'kill'],
  [0x7fc00000, 'ask'],
  [0x00050001, 'EPERM'],
  [0x00050026, 'ENOSYS'],
  [0x00050061, 'EAFNOSUPPORT'],
])

const architectures = { x86_64: 0xc000003e, aarch64: 0xc00000b7 } as const

/** Runs a filter as the kernel does, with the instructions that it checks for. */
const evaluate = (
  program: Uint8Array,
  call: { nr: number; arch: number; args?: readonly (number | bigint)[] },
): string => {
  const data = new DataView(new ArrayBuffer(64))
  data.setUint32(0, call.nr, true)
  data.setUint32(4, call.arch, true)
  for (const [at, value] of (call.args ?? []).entries())
    data.setBigUint64(16 + at * 8, BigInt.asUintN(64, BigInt(value)), true)
  const code = new DataView(program.buffer)
  let a = 0
  for (let at = 0; at < program.length / 8; at += 1) {
    const kind = code.getUint16(at * 8, true)
    const [yes, no] = [code.getUint8(at * 8 + 2), code.getUint8(at * 8 + 3)]
    const k = code.getUint32(at * 8 + 4, true)
    if (kind === 0x20) a = data.getUint32(k, true)
    else if (kind === 0x54) a = (a & k) >>> 0
    else if (kind === 0x15) at += a === k ? yes : no
    else if (kind === 0x35) at += a >= k ? yes : no
    else if (kind === 0x45) at += (a & k) !== 0 ? yes : no
    else if (kind === 0x06) return verdicts.get(k) ?? `0x${k.toString(16)}`
    else throw new Error(`no instruction 0x${kind.toString(16)}`)
  }
  throw new Error('the end was passed')
}

const machines: readonly Machine[] = ['x86_64', 'aarch64']
const ask = (machine: Machine, change: Partial<FilterOptions> = {}) => {
  const program = createFilter({ machine, sockets: 'local', ...change })
  const arch = architectures[machine]
  return {
    program,
    at: (nr: number, ...args: (number | bigint)[]) => evaluate(program, { nr, arch, args }),
    /** Null where the machine does not have the call. */
    of: (name: keyof typeof judged, ...args: (number | bigint)[]) => {
      const nr = numberOf(judged[name], machine)
      return nr === null ? null : evaluate(program, { nr, arch, args })
    },
  }
}

test.each(machines)('on %s each call that changes the machine is refused', (machine) => {
  const { at } = ask(machine)
  const answers = Object.entries(refused).flatMap(([name, numbers]) => {
    const nr = numberOf(numbers, machine)
    return nr === null ? [] : [[name, at(nr)]]
  })
  expect(answers.length).toBeGreaterThan(40)
  expect(answers.filter(([, answer]) => answer !== 'EPERM')).toEqual([])
})

test.each(machines)(
  'on %s it is a program that the kernel takes: short, and whole from every line',
  (machine) => {
    const { program } = ask(machine)
    expect(program.length / 8).toBeLessThan(4_096)
    const view = new DataView(program.buffer)
    for (let at = 0; at < program.length / 8; at += 1) {
      if (view.getUint16(at * 8, true) === 0x06) continue
      const furthest = Math.max(view.getUint8(at * 8 + 2), view.getUint8(at * 8 + 3))
      expect(at + 1 + furthest).toBeLessThan(program.length / 8)
    }
  },
)

test.each(machines)(
  'on %s the machine of another kind is killed, and what came later is not there',
  (machine) => {
    const { program, at } = ask(machine)
    const other = architectures[machine === 'x86_64' ? 'aarch64' : 'x86_64']
    expect(evaluate(program, { nr: 0, arch: other })).toBe('kill')
    expect(evaluate(program, { nr: 0, arch: 0x40000003 })).toBe('kill')
    expect(at(newest + 1)).toBe('ENOSYS')
    expect(at(newest)).toBe('allow')
    expect(at(0x40000000)).toBe(machine === 'x86_64' ? 'kill' : 'ENOSYS')
  },
)

test.each(machines)(
  'on %s no call sets a set-id bit, and the same calls work without',
  (machine) => {
    const { of } = ask(machine)
    const creating = 0o101n
    const tries = {
      chmod: (mode: number) => of('chmod', 0, mode),
      fchmod: (mode: number) => of('fchmod', 3, mode),
      fchmodat: (mode: number) => of('fchmodat', -100, 0, mode),
      fchmodat2: (mode: number) => of('fchmodat2', -100, 0, mode, 0),
      creat: (mode: number) => of('creat', 0, mode),
      open: (mode: number) => of('open', 0, creating, mode),
      openat: (mode: number) => of('openat', -100, 0, creating, mode),
      'openat without a name': (mode: number) => of('openat', -100, 0, 0o20200001, mode),
      mknod: (mode: number) => of('mknod', 0, 0o100000 | mode, 0),
      mknodat: (mode: number) => of('mknodat', -100, 0, 0o100000 | mode, 0),
    }
    for (const [name, attempt] of Object.entries(tries)) {
      for (const mode of [0o4755, 0o2755, 0o6000])
        expect([name, attempt(mode)]).toEqual([name, attempt(0) === null ? null : 'EPERM'])
      for (const mode of [0o755, 0o1777, 0])
        expect([name, attempt(mode)]).toEqual([name, attempt(0) === null ? null : 'allow'])
    }
    expect(of('openat2', -100, 0, 0, 24)).toBe('ENOSYS')
    // Where no file is made, whatever stands in the place of the mode means nothing.
    expect(of('openat', -100, 0, 0, 0o6777)).toBe('allow')
  },
)

test.each(machines)('on %s no device is made, and no new namespace', (machine) => {
  const { of } = ask(machine)
  for (const kind of [0o020000, 0o060000])
    expect(of('mknodat', -100, 0, kind | 0o600, 5)).toBe('EPERM')
  for (const kind of [0o010000, 0o140000])
    expect(of('mknodat', -100, 0, kind | 0o600, 0)).toBe('allow')
  const flags = [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]
  for (const flag of flags)
    expect([of('clone', flag | 17), of('unshare', flag)]).toEqual(['EPERM', 'EPERM'])
  expect(of('unshare', 0x80)).toBe('EPERM')
  expect([of('clone', 0x3d0f00), of('clone', 17), of('unshare', 0x400)]).toEqual([
    'allow',
    'allow',
    'allow',
  ])
  expect(of('clone3', 0, 88)).toBe('ENOSYS')
})

test.each(machines)(
  'on %s nothing is typed into a terminal, and no strange socket is made',
  (machine) => {
    const { of } = ask(machine)
    expect([of('ioctl', 0, 0x5412), of('ioctl', 0, 0x541c), of('ioctl', 0, 0x5401)]).toEqual([
      'EPERM',
      'EPERM',
      'allow',
    ])
    // The kernel looks at the low word alone, and so does the filter.
    expect(of('ioctl', 0, 0x1_0000_5412n)).toBe('EPERM')
    const local = [1, 2, 10, 16]
    for (let family = 0; family < 46; family += 1) {
      expect(of('socket', family)).toBe(local.includes(family) ? 'allow' : 'EAFNOSUPPORT')
      const unix = ask(machine, { sockets: 'unix' })
      expect(unix.of('socket', family)).toBe(family === 1 ? 'allow' : 'EAFNOSUPPORT')
    }
  },
)

test.each(machines)('on %s nothing of the host is in reach where it is shared', (machine) => {
  const shared = ask(machine, { sockets: 'none', shared: true })
  const own = ask(machine)
  for (const calls of Object.values(refusedShared))
    for (const [name, numbers] of Object.entries(calls)) {
      const nr = numberOf(numbers as readonly [number | null, number | null], machine)
      if (nr === null) continue
      expect([name, shared.at(nr), own.at(nr)]).toEqual([name, 'EPERM', 'allow'])
    }
  // The launcher changes modes for it, but never to set-id ones.
  const none = machine === 'aarch64'
  for (const [mode, answer] of [
    [0o755, 'ask'],
    [0o4755, 'EPERM'],
  ] as const)
    expect([shared.of('chmod', 0, mode), shared.of('fchmodat', -100, 0, mode)]).toEqual([
      none ? null : answer,
      answer,
    ])
  expect(shared.of('fchmodat2', -100, 0, 0o755, 0)).toBe('ENOSYS')
  // Through a descriptor, which only what was given leads to, all of it may be changed.
  expect([shared.of('fchmod', 3, 0o755), shared.of('utimensat', 3, 0, 0, 0)]).toEqual([
    'allow',
    'allow',
  ])
  expect([shared.of('utimensat', -100, 0x1000), shared.of('utimensat', 3, 0x1_0000_0000n)]).toEqual(
    ['EPERM', 'EPERM'],
  )
})

test.each(machines)(
  'on %s only its own limits and turns are changed, never another’s',
  (machine) => {
    const { of } = ask(machine, { sockets: 'none', shared: true })
    const byId = ['prlimit64', 'sched_setparam', 'sched_setscheduler', 'sched_setaffinity'] as const
    for (const name of [...byId, 'sched_setattr'] as const)
      expect([name, of(name, 0), of(name, 1), of(name, -1)]).toEqual([
        name,
        'allow',
        'EPERM',
        'EPERM',
      ])
    for (const [name, ofUser] of [
      ['setpriority', 2],
      ['ioprio_set', 3],
    ] as const)
      expect([of(name, 1, 0), of(name, 1, 5), of(name, ofUser, 0)]).toEqual([
        'allow',
        'EPERM',
        'EPERM',
      ])
  },
)

test.each(machines)('on %s without a network of its own there are no sockets', (machine) => {
  const none = ask(machine, { sockets: 'none', shared: true })
  const served = ask(machine, { sockets: 'served', shared: true })
  for (let family = 0; family < 46; family += 1)
    for (const kind of [1, 2, 3, 5, 0o2000001]) {
      expect(none.of('socket', family, kind)).toBe('EAFNOSUPPORT')
      const serves = family === 1 && (kind & 0xf) === 1
      expect(served.of('socket', family, kind)).toBe(serves ? 'allow' : 'EAFNOSUPPORT')
    }
  for (const { of } of [none, served]) {
    expect(of('connect', 3, 0x1000, 110)).toBe('EPERM')
    expect([1, 5, 0o2004001].map((kind) => of('socketpair', 1, kind))).toEqual(
      Array(3).fill('allow'),
    )
    expect([2, 3, 0o2000002].map((kind) => of('socketpair', 1, kind))).toEqual(
      Array(3).fill('EPERM'),
    )
  }
})

test('everyday calls pass', () => {
  const { at } = ask('x86_64')
  for (const nr of [0, 1, 3, 9, 59, 202, 231, 262, 332]) expect(at(nr)).toBe('allow')
})
