/** Kinds of machine that the filter is written for. */
export type Machine = 'x86_64' | 'aarch64'

export type Syscalls = Readonly<
  Record<string, readonly [x86_64: number | null, aarch64: number | null]>
>

/** System calls that no program in the sandbox has a use for: each changes the machine, or looks into other processes. */
export const refused: Syscalls = {
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  setns: [308, 268],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  syslog: [103, 116],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  lookup_dcookie: [212, 18],
  vhangup: [153, 58],
  iopl: [172, null],
  ioperm: [173, null],
  modify_ldt: [154, null],
  uselib: [134, null],
}

/**
 * Refused where the namespaces of the host are shared. Landlock does not judge owners, times and
 * attributes by path, nor who listens to changes, nor what processes of the same user share.
 */
export const refusedShared = {
  attributes: {
    chown: [92, null],
    lchown: [94, null],
    fchownat: [260, 54],
    utime: [132, null],
    utimes: [235, null],
    futimesat: [261, null],
    setxattr: [188, 5],
    lsetxattr: [189, 6],
    removexattr: [197, 14],
    lremovexattr: [198, 15],
  },
  watching: { inotify_add_watch: [254, 27] },
  ipc: {
    shmget: [29, 194],
    shmat: [30, 196],
    shmctl: [31, 195],
    msgget: [68, 186],
    msgsnd: [69, 189],
    msgrcv: [70, 188],
    msgctl: [71, 187],
    semget: [64, 190],
    semop: [65, 193],
    semctl: [66, 191],
    semtimedop: [220, 192],
    mq_open: [240, 180],
    mq_unlink: [241, 181],
  },
} as const satisfies Record<string, Syscalls>

/** System calls that are looked at more closely, or answered as if the kernel did not have them. */
export const judged = {
  clone: [56, 220],
  clone3: [435, 435],
  unshare: [272, 97],
  openat2: [437, 437],
  ioctl: [16, 29],
  chmod: [90, null],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  creat: [85, null],
  open: [2, null],
  openat: [257, 56],
  mknod: [133, null],
  mknodat: [259, 33],
  socket: [41, 198],
  socketpair: [53, 199],
  connect: [42, 203],
  utimensat: [280, 88],
  prlimit64: [302, 261],
  setpriority: [141, 140],
  ioprio_set: [251, 30],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
} as const satisfies Syscalls

/** The newest call that was read through for this list (mseal). Later ones do not exist inside. */
export const newest = 462

/** System calls that the launchers call by number. */
export const launching = {
  close: [3, 57],
  execve: [59, 221],
  exit_group: [231, 94],
  prctl: [157, 167],
  prlimit64: [302, 261],
  getrusage: [98, 165],
  rt_sigprocmask: [14, 135],
  signalfd4: [289, 74],
  mount: [165, 40],
  unshare: [272, 97],
  open_tree: [428, 428],
  move_mount: [429, 429],
  setgroups: [116, 159],
  setresgid: [119, 149],
  setresuid: [117, 147],
  capget: [125, 90],
  capset: [126, 91],
  seccomp: [317, 277],
  ioctl: [16, 29],
  fchmodat: [268, 53],
  process_vm_readv: [310, 270],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
} as const satisfies Syscalls

export const numberOf = (
  [x86_64, aarch64]: readonly [number | null, number | null],
  machine: Machine,
): number | null => (machine === 'x86_64' ? x86_64 : aarch64)
