import { randomBytes } from 'node:crypto'
import type { Ids } from '../ports/ids.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const digits = Buffer.from(alphabet)

const base32 = (value: number, length: number): string => {
  let text = ''
  for (let rest = value, i = 0; i < length; i += 1) {
    text = alphabet.charAt(rest % 32) + text
    rest = Math.floor(rest / 32)
  }
  return text
}

const randomLength = 16
const poolLength = randomLength * 256

/** Random digits as bytes of text. */
const randomDigits = (): Buffer => {
  const pool = randomBytes(poolLength)
  for (let i = 0; i < poolLength; i += 1) pool[i] = digits[(pool[i] as number) & 31] as number
  return pool
}

/** Ids of 48 bits of time and 80 random bits. Random digits come from a pool: one system call in 256. */
export const createIds = (): Ids => {
  let pool = randomDigits()
  let used = 0
  let timeMs = -1
  let time = ''
  return {
    next(prefix) {
      if (used === poolLength) {
        pool = randomDigits()
        used = 0
      }
      const random = pool.toString('latin1', used, (used += randomLength))
      const nowMs = Date.now()
      if (nowMs !== timeMs) {
        timeMs = nowMs
        time = base32(nowMs, 10)
      }
      return `${prefix}-${time}${random}`
    },
    secret: () => randomBytes(32),
  }
}
