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

const randomLength = 13
/** Ids of one millisecond that three digits can number. */
const ofOneMs = 32 ** 3
const poolLength = randomLength * 256

/** Random digits as bytes of text. */
const randomDigits = (): Buffer => {
  const pool = randomBytes(poolLength)
  for (let i = 0; i < poolLength; i += 1) pool[i] = digits[(pool[i] as number) & 31] as number
  return pool
}

const digit = (value: number): string => alphabet.charAt(value & 31)

/**
 * Ids of 48 bits of time, 15 that number those of one millisecond, and 65 random bits: those of a process sort in the order in
 * which they were made, also when the clock is set back. Random digits come from a pool: one system call in 256.
 */
export const createIds = (nowMs: () => number = Date.now): Ids => {
  let pool = randomDigits()
  let used = 0
  let timeMs = -1
  let time = ''
  let number = 0
  return {
    next(prefix) {
      if (used === poolLength) {
        pool = randomDigits()
        used = 0
      }
      const random = pool.toString('latin1', used, (used += randomLength))
      number += 1
      const ms = nowMs()
      if (ms > timeMs || number === ofOneMs) {
        timeMs = Math.max(ms, timeMs + 1)
        time = base32(timeMs, 10)
        number = 0
      }
      return `${prefix}-${time}${digit(number >> 10)}${digit(number >> 5)}${digit(number)}${random}`
    },
    secret: () => randomBytes(32),
  }
}
