import { expect, test } from 'vitest'
import { escapeLines, escapeText, jsonText, mixedScriptWords } from './escape-text.ts'

test.each([
  ['\u001b[31m', '\\u{1b}[31m'],
  ['a\nb\rc\td', 'a\\nb\\rc\\td'],
  ['\u202egpj.exe', '\\u{202e}gpj.exe'],
  ['zero\u200bwidth\ufeff', 'zero\\u{200b}width\\u{feff}'],
  ['soft\u00adhyphen', 'soft\\u{ad}hyphen'],
  ['no\u00a0break', 'no\\u{a0}break'],
  ['filler\u3164', 'filler\\u{3164}'],
  ['tag\u{e0041}', 'tag\\u{e0041}'],
  ['half\ud83d', 'half\\u{d83d}'],
  ['line\u2028break', 'line\\u{2028}break'],
])('shows %j as %s', (text, shown) => {
  expect(escapeText(text)).toBe(shown)
})

test('leaves readable text alone', () => {
  const text = 'Grüße 你好 שלום مرحبا 👍 a-b_c "d" $e'
  expect(escapeText(text)).toBe(text)
})

test('keeps the lines of a longer text, and nothing else that moves the cursor', () => {
  expect(escapeLines('a\n\tb\r\u001bc')).toBe('a\n\tb\\r\\u{1b}c')
})

test('escapes inside JSON without changing what it says', () => {
  const value = { 'k\u202e': ['\u200b\u{e0041}\u001b', 'plain', '\ud83d'] }
  const text = jsonText(value)
  expect(text).not.toMatch(/[\u202e\u200b\u001b]|\u{e0041}/u)
  expect(JSON.parse(text)).toEqual(value)
})

test('finds words made of letters that look alike', () => {
  expect(mixedScriptWords('pay p\u0430ypal now').map(({ word }) => word)).toEqual(['p\u0430ypal'])
  expect(mixedScriptWords('Привет world, ελληνικά 2026')).toEqual([])
})
