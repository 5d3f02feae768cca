import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { configure } from 'safe-stable-stringify'
import type { Digest } from '../ports/digest.ts'

// Sorted keys and ECMAScript numbers are RFC 8785; `strict` refuses what JSON cannot carry.
const stringify = configure({ strict: true, bigint: false })

export const createDigest = (): Digest => ({
  canonical(value) {
    const text = stringify(value)
    if (text === undefined || !text.isWellFormed())
      throw new TypeError('not representable as canonical JSON')
    return text
  },
  sha256: (text) => hash('sha256', text, 'hex'),
  hmac: (key, text) => createHmac('sha256', key).update(text).digest('hex'),
  equal(a, b) {
    const left = Buffer.from(a)
    const right = Buffer.from(b)
    return left.length === right.length && timingSafeEqual(left, right)
  },
})
