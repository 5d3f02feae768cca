import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from './lib/run.mjs'

const read = (file) => readFileSync(path.join(root, file), 'utf8')
const page = read('docs/architecture/README.md')
const source = 'packages/server/src'

/** Table rows that begin, after an optional number, with a function and the file that declares it. */
const row = /^\|(?: +(?<number>\d+) \|)? `(?<name>[#\w]+)` +\| `(?<file>[\w/.-]+\.ts)` +\|/gm
const hops = [...page.matchAll(row)].map(({ groups }) => groups)

/** As a function, constant or class; as a method; or as a property that is a function. */
const declares = (text, name) =>
  new RegExp(
    [
      `\\b(?:function\\*?|const|class) ${name}\\b`,
      `^ +(?:static |async |readonly |get )*${name}(?:<[^>]*>)?\\(.*$`,
      `^ +(?:readonly )?${name}(?:: \\w+)? = `,
      `^ +${name}: (?:async )?\\(`,
    ].join('|'),
    'm',
  ).test(text)

test('the walk is numbered without a gap, in 60 hops at most', () => {
  const numbers = hops.flatMap(({ number }) => (number ? [Number(number)] : []))
  expect(numbers).toEqual(numbers.map((_, i) => i + 1))
  expect(numbers.length).toBeGreaterThan(30)
  expect(numbers.length).toBeLessThanOrEqual(60)
})

test.each(hops)('$name is declared in $file', ({ name, file }) => {
  expect(declares(read(path.join(source, file)), name)).toBe(true)
})

test('every file that the page names exists', () => {
  const named = [...page.matchAll(/`((?:[\w-]+\/)+[\w.-]+\.ts)`/g)].map(([, file]) => file)
  const bases = [source, 'packages', '']
  const missing = named.filter(
    (file) => !bases.some((base) => existsSync(path.join(root, base, file))),
  )
  expect(missing).toEqual([])
})

test('every room has its line', () => {
  const { layers } = JSON.parse(read('docs/architecture/layers.json'))
  const { rooms } = layers.find(({ name }) => name === 'app')
  const table = page.slice(page.indexOf('### The rooms'), page.indexOf('## The walk'))
  const listed = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, room]) => room)
  expect(listed.toSorted()).toEqual(Object.keys(rooms).toSorted())
})
