import { expect, test } from 'vitest'
import { createPasswords } from './passwords.ts'

test('knows a password by its hash, which is never the same twice and names its costs', async () => {
  const passwords = createPasswords()
  const [one, two] = [await passwords.hash('correct horse'), await passwords.hash('correct horse')]
  expect(one).toMatch(/^\$argon2id\$v=19\$m=65536,t=3,p=1\$/)
  expect(two).not.toBe(one)
  expect(await passwords.verify(one, 'correct horse')).toBe(true)
  expect(await passwords.verify(one, 'correct horsE')).toBe(false)
})

test('does the same work for somebody who does not exist', async () => {
  const argon2 = await import('@node-rs/argon2')
  const checked: string[] = []
  const passwords = createPasswords(async () => ({
    hash: argon2.hash,
    verify(hash, password) {
      checked.push(String(hash))
      return argon2.verify(hash, password)
    },
  }))
  const known = await passwords.hash('correct horse')
  for (const hash of [known, null]) expect(await passwords.verify(hash, 'wrong')).toBe(false)
  // One check each, at the same costs; `false` is the end of one, since a hash that costs nothing is refused.
  const costs = checked.map((hash) => /^(.+p=1)\$[^$]{22,}\$[^$]{43}$/.exec(hash)?.[1])
  expect(costs).toEqual(Array(2).fill('$argon2id$v=19$m=65536,t=3,p=1'))
  await expect(argon2.verify('$argon2id$v=19$m=65536,t=3,p=1$', 'wrong')).rejects.toThrow()
})

test('checks two at once, lets eight wait and refuses the rest at once', async () => {
  const passwords = createPasswords()
  const hash = await passwords.hash('correct horse')
  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, () => passwords.verify(hash, 'correct horse')),
  )
  const right = outcomes.filter((o) => o.status === 'fulfilled' && o.value)
  const refused = outcomes.filter(
    (o) => o.status === 'rejected' && (o.reason as { type: string }).type === 'TooManyLogins',
  )
  expect([right.length, refused.length]).toEqual([10, 20])
  expect(await passwords.verify(hash, 'correct horse')).toBe(true)
})
