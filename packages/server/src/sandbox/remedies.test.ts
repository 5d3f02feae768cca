import { expect, test } from 'vitest'
import {
  type KernelFacts,
  lackOfLandlock,
  lackOfProgram,
  lackOfRights,
  systemIds,
} from './remedies.ts'

const facts: KernelFacts = {
  appArmorRestricts: false,
  clone: null,
  namespacesMax: '96365',
  inContainer: false,
}

test.each([
  ['ID=debian\n', 'apt-get install bubblewrap'],
  ['NAME="Ubuntu"\nID=ubuntu\nID_LIKE=debian\n', 'apt-get install bubblewrap'],
  ['ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'dnf install bubblewrap'],
  ['ID=arch\n', 'pacman -S bubblewrap'],
  ['ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', 'zypper install bubblewrap'],
  ['ID=alpine\n', 'apk add bubblewrap'],
  ['ID=nixos\n', 'package manager'],
])('names the command of the system: %j', (release, command) => {
  expect(lackOfProgram('bubblewrap', release).remedy).toContain(command)
})

test('reads the names that a system gives itself', () => {
  expect(systemIds('VERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n')).toBe('ubuntu debian')
})

test.each([
  ['setting up uid map: Permission denied', { appArmorRestricts: true }, 'bwrap-userns-restrict'],
  [
    'loopback: Failed RTM_NEWADDR: Operation not permitted',
    { appArmorRestricts: true },
    'apparmor',
  ],
  ['No permissions to create new namespace', { clone: '0' }, 'kernel.unprivileged_userns_clone=1'],
  ['Creating new namespace failed', { namespacesMax: '0' }, 'user.max_user_namespaces'],
  ["Can't mount proc on /newroot/proc", { inContainer: true }, 'container'],
  ['bwrap: Unknown option --disable-userns', {}, '0.8'],
  ['something else', {}, 'gatehouse doctor'],
])('says what to do about %j', (said, change, remedy) => {
  const lack = lackOfRights(said, { ...facts, ...change })
  expect(lack.reason).toContain(said)
  expect(lack.remedy).toContain(remedy)
})

test.each([
  ['gatehouse: landlock none', 'this kernel has no Landlock', '6.12'],
  ['gatehouse: landlock off', 'switched off', 'lsm='],
  ['gatehouse: landlock 4', 'version 4 of Landlock, and 6 is needed', '6.12'],
  ['gatehouse: landlock refused: Operation not permitted', 'not allowed here', 'container'],
  ['sockets can be made (reaches 1)', 'sockets can be made', 'gatehouse doctor'],
])('says what to do about Landlock where the launcher says %j', (said, reason, remedy) => {
  const lack = lackOfLandlock(said)
  expect(lack.reason).toContain(reason)
  expect(lack.remedy).toContain(remedy)
  expect(lack.remedy).toContain('bubblewrap')
})
