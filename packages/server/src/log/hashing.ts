import { createHmac, createSecretKey, hash } from 'node:crypto'
import type { Digests, Hashing } from '../domain/audit/hashing.ts'

/** One-shot hashing to hex: twice as fast here as to a buffer, and three times as a hash object. */
export const hashing: Hashing = {
  sha256: (bytes) => hash('sha256', bytes, 'hex'),
  room: (bytes) => Buffer.alloc(bytes),
  writeHex(into, hex, at) {
    ;(into as Buffer).write(hex, at, 'hex')
  },
  writeText: (into, text, at) => (into as Buffer).write(text, at, 'utf8'),
}

export const createDigests = (secret: Uint8Array): Digests => {
  const key = createSecretKey(secret)
  return {
    sha256: (text) => hash('sha256', text, 'hex'),
    hmac: (text) => createHmac('sha256', key).update(text).digest('hex'),
  }
}
