import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { sourceFiles } from './lib/files.mjs'
import { root } from './lib/run.mjs'

const folder = path.join(root, 'docs/how-to')
const model =
  /^Model: `(?<name>\w+)`, in (?<count>\d+) files by hand:\n\n(?<list>(?:(?:- |  ).*\n)+)/m

const promises = readdirSync(folder).flatMap((file) => {
  const found = model.exec(readFileSync(path.join(folder, file), 'utf8'))?.groups
  if (!found) return []
  const files = [...found.list.matchAll(/^- \[ \] `([^`]+)`/gm)].map((match) => match[1])
  return [{ file, name: found.name, count: Number(found.count), files }]
})

/** Files that somebody wrote and that name the model; a command is a how-to of its own. */
const filesWith = (name) =>
  sourceFiles()
    .filter(({ file, text }) => !file.startsWith('packages/cli/') && !text.startsWith('// Made by'))
    .filter(({ text }) => new RegExp(`\\b${name}\\b`).test(text))
    .map(({ file }) => file)

test('reads what a how-to promises', () => {
  expect(promises.map(({ file }) => file)).toContain('add-a-rest-route.md')
})

test.each(promises)('$file touches the files that it lists, and no other', (promise) => {
  expect(filesWith(promise.name).toSorted()).toEqual(promise.files.toSorted())
  expect(promise.files).toHaveLength(promise.count)
})
