import { expect, test } from 'vitest'
import { chooseServiceUser } from './service-user.ts'

const passwd = [
  'root:x:0:0::/root:/bin/sh',
  'toor:x:0:0::/root:/bin/sh',
  'alice:x:1000:1000::/:/bin/sh',
  'wheel:x:7:0::/:/bin/sh',
  '',
]
const whole = { passwd: passwd.join('\n'), uidMap: '         0          0 4294967295\n' }
const withGatehouse = { ...whole, passwd: `${whole.passwd}gatehouse:x:990:985::/:/bin/false\n` }

test('takes whom the configuration names, by name or id', () => {
  expect(chooseServiceUser('alice', whole)).toMatchObject({ uid: 1000, gid: 1000, name: 'alice' })
  expect(chooseServiceUser('1000', whole)).toMatchObject({ uid: 1000, name: 'alice' })
  expect(chooseServiceUser('4711', whole)).toEqual({ uid: 4711, gid: 4711, name: '4711' })
})

test('takes the account gatehouse where there is one, else an id that is nobody’s', () => {
  expect(chooseServiceUser(null, withGatehouse)).toMatchObject({ uid: 990, gid: 985 })
  const { uid, gid } = chooseServiceUser(null, whole)
  expect(uid).toBe(gid)
  expect(uid).toBeGreaterThan(1_000_000_000)
  const taken = { ...whole, passwd: `${whole.passwd}x:x:${uid}:${uid}::/:/bin/sh\n` }
  expect(chooseServiceUser(null, taken).uid).not.toBe(uid)
})

test('takes an id that the container has', () => {
  const { uid } = chooseServiceUser(null, { ...whole, uidMap: '0 100000 65536\n' })
  expect(uid).toBeGreaterThan(1_000)
  expect(uid).toBeLessThan(65_536)
  expect(() => chooseServiceUser(null, { ...whole, uidMap: '0 100000 1\n' })).toThrow(
    'no free user id',
  )
})

test.each(['root', 'toor', '0', 'wheel', 'nobody-there', '-1', '4294967295', ''])(
  'never takes %j',
  (name) => {
    expect(() => chooseServiceUser(name, whole)).toThrow('sandbox.user')
  },
)
