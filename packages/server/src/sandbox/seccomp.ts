import {
  judged,
  type Machine,
  newest,
  numberOf,
  refused,
  refusedShared,
  type Syscalls,
} from './syscalls.ts'

/** Parts of the filter that a test can leave out, to see that something depends on each. */
export type FilterPart =
  | 'architecture'
  | 'calls'
  | 'future'
  | 'namespaces'
  | 'terminal'
  | 'set-id'
  | 'devices'
  | 'sockets'
  | 'others'
  | keyof typeof refusedShared

export type FilterOptions = {
  readonly machine: Machine
  /**
   * `unix`: no other sockets; `local`: those of the own, empty network too. Where there are no namespaces:
   * `none`, or `served`: a Unix socket of its own that others connect to, and none to connect from.
   */
  readonly sockets: 'unix' | 'local' | 'none' | 'served'
  /** Whether processes, files and memory of the host are in reach, as without namespaces. */
  readonly shared?: boolean
  readonly without?: readonly FilterPart[]
}

// Classic BPF: see filter.h of Linux. Fields of seccomp_data: nr at 0, arch at 4, args from 16, low word first.
const load = (offset: number): number[] => [0x20, 0, 0, offset]
const mask = (bits: number): number[] => [0x54, 0, 0, bits]
const equal = (value: number, yes: number, no: number): number[] => [0x15, yes, no, value]
const atLeast = (value: number, yes: number, no: number): number[] => [0x35, yes, no, value]
const anyOf = (bits: number, yes: number, no: number): number[] => [0x45, yes, no, bits]
const answer = (action: number): number[] => [0x06, 0, 0, action]

const allow = answer(0x7fff0000)
const kill = answer(0x80000000)
/** The launcher is asked, and answers in its place. */
const ask = answer(0x7fc00000)
const errno = (code: number): number[] => answer(0x00050000 | code)
const [eperm, enosys, eafnosupport] = [errno(1), errno(38), errno(97)]

const architectures = { x86_64: 0xc000003e, aarch64: 0xc00000b7 } as const
const x32 = 0x40000000
const argument = (n: number): number[] => load(16 + 8 * n)

const setId = 0o6000
const creating = 0o100 | 0o20000000
const kindOfFile = 0o170000
const newNamespaces = 0x7e020000
const newTime = 0x80
const ways = { unix: [1], local: [1, 2, 10, 16] } as const
const [stream, packets, kindOfSocket] = [1, 5, 0xf]
const [userPriority, userIoPriority] = [2, 3]
const [tiocsti, tioclinux] = [0x5412, 0x541c]

type Lines = readonly (readonly number[])[]

/** Runs the lines where the call is this one; each way through them ends in an answer. */
const when = (call: number | null, lines: Lines): Lines =>
  call === null ? [] : [load(0), equal(call, 0, lines.length), ...lines]

/** Refuses where the argument has any of the bits. */
const refuseBits = (n: number, bits: number): Lines => [
  argument(n),
  anyOf(bits, 0, 1),
  eperm,
  allow,
]

/** No call leaves a file with a set-id bit. Where a file may be made, only if it is. */
const noSetId = (machine: Machine): Lines => {
  const call = (name: keyof typeof judged) => numberOf(judged[name], machine)
  const modes = (name: keyof typeof judged, n: number): Lines =>
    when(call(name), refuseBits(n, setId))
  const made = (name: 'open' | 'openat', flags: number, mode: number): Lines =>
    when(call(name), [argument(flags), anyOf(creating, 1, 0), allow, ...refuseBits(mode, setId)])
  return [
    ...modes('chmod', 1),
    ...modes('fchmod', 1),
    ...modes('fchmodat', 2),
    ...modes('fchmodat2', 2),
    ...modes('creat', 1),
    ...made('open', 1, 2),
    ...made('openat', 2, 3),
    // The mode of `openat2` is behind a pointer, too.
    ...when(call('openat2'), [enosys]),
  ]
}

/** Answers for a call by the value of one argument: allowed where it is zero. */
const onlyZero = (n: number): Lines => [argument(n), equal(0, 1, 0), eperm, allow]

/** Not of all processes of the user, and of no other one: only what calls changes its own. */
const onlyItself = (ofUser: number): Lines => [
  argument(0),
  equal(ofUser, 2, 0),
  argument(1),
  equal(0, 1, 0),
  eperm,
  allow,
]

/** By path it is refused; through a descriptor, the path is null. */
const onlyByDescriptor: Lines = [
  argument(1),
  equal(0, 0, 2),
  load(16 + 8 + 4),
  equal(0, 1, 0),
  eperm,
  allow,
]

/** Sockets where those of the host are in reach: only pairs that are connected for good. */
const sharedSockets = (machine: Machine, sockets: FilterOptions['sockets']): Lines => {
  const call = (name: keyof typeof judged) => numberOf(judged[name], machine)
  const served: Lines = [
    argument(0),
    equal(1, 1, 0),
    eafnosupport,
    argument(1),
    mask(kindOfSocket),
    equal(stream, 1, 0),
    eafnosupport,
    allow,
  ]
  return [
    ...when(call('socket'), sockets === 'served' ? served : [eafnosupport]),
    ...when(call('connect'), [eperm]),
    // Datagrams of a pair could be sent to any other socket as well.
    ...when(call('socketpair'), [
      argument(1),
      mask(kindOfSocket),
      equal(stream, 2, 0),
      equal(packets, 1, 0),
      eperm,
      allow,
    ]),
  ]
}

/** As the kernel reads it. */
const assemble = (lines: Lines): Uint8Array => {
  const bytes = new Uint8Array(lines.length * 8)
  const view = new DataView(bytes.buffer)
  lines.forEach(([code = 0, yes = 0, no = 0, value = 0], at) => {
    view.setUint16(at * 8, code, true)
    view.setUint8(at * 8 + 2, yes)
    view.setUint8(at * 8 + 3, no)
    view.setUint32(at * 8 + 4, value, true)
  })
  return bytes
}

/**
 * The program that the kernel runs before each system call of what is in the sandbox. All is allowed but
 * what is named, and what came into Linux after it was written.
 * @SECURITY Each part is a promise; sandbox-syscalls.test.ts takes every one away and sees it broken.
 */
export const createFilter = (options: FilterOptions): Uint8Array => {
  const { machine, sockets, shared = false, without = [] } = options
  const has = (part: FilterPart) => !without.includes(part)
  const on = (part: FilterPart, lines: () => Lines): Lines => (has(part) ? lines() : [])
  const call = (name: keyof typeof judged) => numberOf(judged[name], machine)

  const refuseAll = (calls: Syscalls): Lines => [
    load(0),
    ...Object.values(calls).flatMap((numbers) => {
      const number = numberOf(numbers, machine)
      return number === null ? [] : [equal(number, 0, 1), eperm]
    }),
  ]
  const hostInReach = (): Lines => [
    ...on('attributes', () => [
      ...refuseAll(refusedShared.attributes),
      ...when(call('chmod'), [argument(1), anyOf(setId, 0, 1), eperm, ask]),
      ...when(call('fchmodat'), [argument(2), anyOf(setId, 0, 1), eperm, ask]),
      // Libraries then fall back to what is asked for above.
      ...when(call('fchmodat2'), [enosys]),
      ...when(call('utimensat'), onlyByDescriptor),
    ]),
    ...on('watching', () => refuseAll(refusedShared.watching)),
    ...on('ipc', () => refuseAll(refusedShared.ipc)),
    ...on('others', () => [
      ...when(call('prlimit64'), onlyZero(0)),
      ...when(call('sched_setparam'), onlyZero(0)),
      ...when(call('sched_setscheduler'), onlyZero(0)),
      ...when(call('sched_setaffinity'), onlyZero(0)),
      ...when(call('sched_setattr'), onlyZero(0)),
      ...when(call('setpriority'), onlyItself(userPriority)),
      ...when(call('ioprio_set'), onlyItself(userIoPriority)),
    ]),
  ]
  const namespaced = (families: readonly number[]): Lines =>
    when(call('socket'), [
      argument(0),
      ...families.flatMap((family) => [equal(family, 0, 1), allow]),
      eafnosupport,
    ])

  const nodes = (name: 'mknod' | 'mknodat', n: number): Lines =>
    when(call(name), [
      ...(has('set-id') ? [argument(n), anyOf(setId, 0, 1), eperm] : []),
      ...(has('devices')
        ? [argument(n), mask(kindOfFile), equal(0o020000, 1, 0), equal(0o060000, 0, 1), eperm]
        : []),
      allow,
    ])

  const lines: Lines = [
    ...on('architecture', () => [
      load(4),
      equal(architectures[machine], 1, 0),
      kill,
      ...(machine === 'x86_64' ? [load(0), atLeast(x32, 0, 1), kill] : []),
    ]),
    ...on('future', () => [load(0), atLeast(newest + 1, 0, 1), enosys]),
    ...on('calls', () => refuseAll(refused)),
    ...(shared ? hostInReach() : []),
    ...on('namespaces', () => [
      ...when(call('clone'), refuseBits(0, newNamespaces)),
      ...when(call('unshare'), refuseBits(0, newNamespaces | newTime)),
      // The flags of `clone3` are behind a pointer, which no filter can follow: libc falls back to clone.
      ...when(call('clone3'), [enosys]),
    ]),
    ...on('terminal', () =>
      when(call('ioctl'), [
        argument(1),
        equal(tiocsti, 1, 0),
        equal(tioclinux, 0, 1),
        eperm,
        allow,
      ]),
    ),
    ...on('set-id', () => noSetId(machine)),
    ...nodes('mknod', 1),
    ...nodes('mknodat', 2),
    ...on('sockets', () =>
      sockets === 'none' || sockets === 'served'
        ? sharedSockets(machine, sockets)
        : namespaced(ways[sockets]),
    ),
    allow,
  ]
  return assemble(lines)
}
