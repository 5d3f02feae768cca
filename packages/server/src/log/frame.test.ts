import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeEntry, decodeFrame, encodeFrame, lineOf, noteText, readHead } from './frame.ts'

const note = noteText({ stamps: [], agents: [], sessions: [], clockMs: 0, vault: null })

const bodies = fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 })

test('an entry read by itself is that of its frame, whatever damage did to the lines', () => {
  fc.assert(
    fc.property(bodies, fc.nat(400), fc.constantFrom('\n', 'x', '\n\n\n'), (texts, at, damage) => {
      const first = 7
      const lines = texts.map((text, i) =>
        lineOf(String(i).padStart(64, '0'), '0'.repeat(16), JSON.stringify(text)),
      )
      const bytes = encodeFrame(first, lines.length, note + lines.join(''), Buffer.alloc(32, 1))
      const head = readHead(bytes, 0)
      if (!head) throw new Error('no head')
      if (32 + at + 40 < bytes.length) bytes.write(damage, 32 + at)
      const { entries } = decodeFrame(bytes, head)
      for (let seq = first; seq < first + lines.length; seq += 1)
        expect(decodeEntry(bytes, head, seq)).toEqual(entries[seq - first] ?? null)
    }),
  )
})
