import { expect, test } from 'vitest'
import { findPronouns } from './check-comments.mjs'

test.each([
  '/** Rules that hold for all of them. */',
  '// Whether it waits, the caller decides.',
  '/**\n * The service stops by itself,\n * which it does within 10 s.\n */',
  '// Entries are hashed,\n// what is left is not.',
  "const text = '// It is no comment'",
  'done() // It stands behind code.',
  '// Made by `npm run generate` from there.\n/** What it is. */',
  '/** Item of a list. */',
])('passes %j', (text) => {
  expect(findPronouns('a.ts', text)).toEqual([])
})

test.each([
  ['/** What holds for all of them. */', 'a.ts:1 What holds for all of them.'],
  ['stop()\n  // It stops by itself.', 'a.ts:2 It stops by itself.'],
  ['/**\n * Whoever waits is told.\n */', 'a.ts:1 Whoever waits is told.'],
  ['// @SECURITY Who may write it; a.test.ts.', 'a.ts:1 Who may write it; a.test.ts.'],
  ['/** So many at once. */', 'a.ts:1 So many at once.'],
])('refuses %j', (text, problem) => {
  expect(findPronouns('a.ts', text)).toEqual([problem])
})
