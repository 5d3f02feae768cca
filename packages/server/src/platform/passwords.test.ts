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

test('takes as long for somebody who does not exist', async () => {
  const passwords = createPasswords()
  const hash = await passwords.hash('correct horse')
  const timeOf = async (known: string | null) => {
    const began = performance.now()
    expect(await passwords.verify(known, 'wrong')).toBe(false)
    return performance.now() - began
  }
  // In turns: whatever else the machine does slows both, and the quickest of each is the least disturbed.
  let [real, nobody] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let i = 0; i < 12; i += 1) {
    real = Math.min(real, await timeOf(hash))
    nobody = Math.min(nobody, await timeOf(null))
  }
  expect(nobody / real).toBeGreaterThan(0.5)
  expect(nobody / real).toBeLessThan(2)
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
