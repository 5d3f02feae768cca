import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { commandLine } from './command-line.ts'

test.each([
  [['ls', '-la', 'a/b.c'], 'ls -la a/b.c'],
  [['echo', '', 'a b', '$HOME', '*'], "echo '' 'a b' '$HOME' '*'"],
  [["it's"], String.raw`'it'\''s'`],
  [['a\nb\tc\0'], String.raw`$'a\nb\tc\x00'`],
  [
    ['\u202Ecod.exe', '\u200B', '\u00A0', '\u{E0041}'],
    String.raw`$'\u202ecod.exe' $'\u200b' $'\u00a0' $'\U000e0041'`,
  ],
  [["both ' and \\ and \x1b[31m"], String.raw`$'both \' and \\ and \x1b[31m'`],
])('shows %j with every end and character', (words, text) => {
  expect(commandLine(words)).toBe(text)
})

test('is on one line, and no two vectors look the same', () => {
  const word = fc.string({ unit: 'binary', maxLength: 6 })
  fc.assert(
    fc.property(fc.array(word, { maxLength: 4 }), fc.array(word, { maxLength: 4 }), (a, b) => {
      expect(commandLine(a)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      const same = a.length === b.length && a.every((one, i) => one === b[i])
      expect(commandLine(a) === commandLine(b)).toBe(same)
    }),
  )
})

test.skipIf(!existsSync('/bin/bash'))('means to a shell what it says', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.string({
          unit: fc.constantFrom(...Array.from('\'\\ $*a\n\té\u202E\u{1F600}\x1b"`!~#')),
        }),
        {
          maxLength: 4,
        },
      ),
      (words) => {
        const script = `printf '%s\\0' end ${commandLine(words)}`
        const out = execFileSync('/bin/bash', ['--norc', '-c', script], {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: { LC_ALL: 'C.UTF-8' },
        })
        expect(out.toString().split('\0').slice(1, -1)).toEqual(words)
      },
    ),
    { numRuns: 25 },
  )
})
