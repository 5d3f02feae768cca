import { randomBytes } from 'node:crypto'
import type { Ids } from '../ports/ids.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

const base32 = (value: number, digits: number): string => {
  let text = ''
  for (let rest = value, i = 0; i < digits; i += 1) {
    text = alphabet.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}

const poolBytes = 16 * 256

/** Ids of 48 bits of time and 80 random bits. Random bytes come from a pool: one system call in 256. */
export const createIds = (): Ids => {
  let pool = randomBytes(poolBytes)
  let used = 0
  return {
    next(prefix) {
      if (used + 16 > poolBytes) {
        pool = randomBytes(poolBytes)
        used = 0
      }
      let random = ''
      for (let i = 0; i < 16; i += 1) random += alphabet.charAt((pool[used + i] ?? 0) & 31)
      used += 16
      return `${prefix}-${base32(Date.now(), 10)}${random}`
    },
    secret: () => randomBytes(32),
  }
}
