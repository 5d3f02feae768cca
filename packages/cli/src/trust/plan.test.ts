import { expect, test } from 'vitest'
import { planTrust, type TrustInput, typed } from './plan.ts'

const input = (change: Partial<TrustInput> = {}): TrustInput => ({
  platform: 'linux',
  isRoot: true,
  home: '/home/ana',
  caFile: '/srv/my data/tls/ca.pem',
  fingerprint: 'AB:CD:EF:01:23:45:67:89',
  remove: false,
  exists: (path) => path === '/usr/local/share/ca-certificates',
  ...change,
})

const target = '/usr/local/share/ca-certificates/gatehouse-abcdef012345.crt'

test('installs into the store of the distribution, and takes out the same file', () => {
  const there = planTrust(input())
  expect(there.commands).toEqual([
    ['install', '-m', '0644', '/srv/my data/tls/ca.pem', target],
    ['update-ca-certificates'],
  ])
  expect(there.mayRun).toBe(true)
  expect(planTrust(input({ remove: true })).commands).toEqual([
    ['rm', '-f', target],
    ['update-ca-certificates'],
  ])
  const fedora = planTrust(input({ exists: (path) => path.startsWith('/etc/pki') }))
  expect(fedora.commands.at(-1)).toEqual(['update-ca-trust'])
})

test('runs nothing as a user who may not, and shows it as it is typed', () => {
  const plan = planTrust(input({ isRoot: false }))
  expect(plan.mayRun).toBe(false)
  expect(plan.commands.map(typed)[0]).toBe(`install -m 0644 '/srv/my data/tls/ca.pem' ${target}`)
})

test('uses the keychain of the person on macOS, for TLS only', () => {
  const { commands } = planTrust(input({ platform: 'darwin', isRoot: false }))
  expect(commands[0]?.slice(0, 6)).toEqual([
    'security',
    'add-trusted-cert',
    '-r',
    'trustRoot',
    '-p',
    'ssl',
  ])
  const undo = planTrust(input({ platform: 'darwin', remove: true })).commands[0]
  expect(undo).toContain('ABCDEF0123456789')
})

test.each(['win32', 'freebsd'])('says what to do on %s', (platform) => {
  const plan = planTrust(input({ platform }))
  expect(plan.commands).toEqual([])
  expect(plan.notes.join()).toContain('ca.pem')
})
