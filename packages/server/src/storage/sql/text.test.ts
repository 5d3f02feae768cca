import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { afterPrefix, decodeText, encodeText } from './text.ts'

const anyText = fc.string({ unit: 'binary', maxLength: 20 })
const anyUnits = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 })
  .map((units) => String.fromCharCode(...units))

test('every text comes back as it was, and what is stored is UTF-8 without NUL', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, anyUnits, fc.constantFrom('\\u0000', 'a\\', '\0')), (text) => {
      const stored = encodeText(text)
      expect(stored).not.toContain('\0')
      expect(Buffer.from(stored, 'utf8').toString('utf8')).toBe(stored)
      expect(decodeText(stored)).toBe(text)
    }),
  )
})

test('the bound above a prefix parts exactly what has the prefix from what sorts after it', () => {
  fc.assert(
    fc.property(anyText, anyText, (prefix, other) => {
      const bound = afterPrefix(prefix)
      const bytes = (text: string) => Buffer.from(text, 'utf8')
      const inRange =
        Buffer.compare(bytes(other), bytes(prefix)) >= 0 &&
        (bound === null || Buffer.compare(bytes(other), bytes(bound)) < 0)
      expect(inRange).toBe(other.startsWith(prefix))
      const longer = bytes(prefix + other)
      expect(bound === null || Buffer.compare(longer, bytes(bound)) < 0).toBe(true)
    }),
  )
})
