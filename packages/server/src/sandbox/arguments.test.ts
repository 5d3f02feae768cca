import { expect, test } from 'vitest'
import { bubblewrapArguments } from './arguments.ts'

const system = {
  links: [{ path: '/bin', target: 'usr/bin' }],
  folders: ['/usr'],
  shown: ['/etc/ssl/certs'],
  copied: [],
}
const base = {
  system,
  mounts: [
    { source: '/host/ws/in', target: '/host/ws/in', writable: false },
    { source: '/host/ws', target: '/host/ws', writable: true },
  ],
  hidden: [],
  temporaryBytes: 1_000,
  filter: 3,
  command: ['/usr/bin/perl', '/proc/self/fd/5'],
}

test('is exactly what is written down', () => {
  expect(bubblewrapArguments(base)).toEqual(
    `--unshare-user --unshare-ipc --unshare-uts --unshare-cgroup-try --unshare-pid --as-pid-1
     --unshare-net --disable-userns --uid 65534 --gid 65534 --hostname gatehouse
     --cap-drop ALL --clearenv --die-with-parent --new-session
     --ro-bind /usr /usr --symlink usr/bin /bin --proc /proc --dev /dev
     --size 1000 --tmpfs /dev/shm --remount-ro /dev --size 1000 --tmpfs /tmp
     --bind /host/ws /host/ws --ro-bind /host/ws/in /host/ws/in
     --ro-bind /etc/ssl/certs /etc/ssl/certs
     --remount-ro / --seccomp 3 -- /usr/bin/perl /proc/self/fd/5`.split(/\s+/),
  )
})

test('covers a folder that would be seen through the system, before anything in it is mounted', () => {
  const args = bubblewrapArguments({
    ...base,
    hidden: ['/usr/local/data'],
    mounts: [{ source: '/usr/local/data/ws', target: '/usr/local/data/ws', writable: true }],
  })
  const line = args.join(' ')
  const cover = line.indexOf('--tmpfs /usr/local/data ')
  expect(cover).toBeGreaterThan(line.indexOf('--ro-bind /usr /usr'))
  expect(line.indexOf('--bind /usr/local/data/ws')).toBeGreaterThan(cover)
  expect(line.indexOf('--remount-ro /usr/local/data')).toBeGreaterThan(
    line.indexOf('--bind /usr/local/data/ws'),
  )
})

test.each([
  ['network', '--unshare-net'],
  ['nesting', '--disable-userns'],
  ['read-only', '--remount-ro'],
  ['temporary size', '--size'],
] as const)('leaves out %s and nothing else', (part, flag) => {
  const without = bubblewrapArguments({ ...base, without: [part] })
  expect(without).not.toContain(flag)
  expect(bubblewrapArguments(base).filter((arg) => !without.includes(arg))).toContain(flag)
})
