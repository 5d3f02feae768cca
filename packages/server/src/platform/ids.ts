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

/** Two digits at a time: an id is made for every request and every entry of the log. */
const pairs = Array.from({ length: 1024 }, (_, value) => base32(value, 2))
const pairsOfRandom = 8
const poolBytes = pairsOfRandom * 2 * 256

/** Ids of 48 bits of time and 80 random bits. Random bytes come from a pool: one system call in 256. */
export const createIds = (): Ids => {
  let pool = randomBytes(poolBytes)
  let used = 0
  let timeMs = -1
  let time = ''
  return {
    next(prefix) {
      if (used === poolBytes) {
        pool = randomBytes(poolBytes)
        used = 0
      }
      let random = ''
      for (const end = used + pairsOfRandom * 2; used < end; used += 2)
        random += pairs[pool.readUInt16LE(used) & 1023] ?? ''
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
