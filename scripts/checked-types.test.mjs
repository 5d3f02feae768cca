import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from './lib/run.mjs'

const { include } = JSON.parse(readFileSync(path.join(root, 'tsconfig.tests.json'), 'utf8'))
const packages = readdirSync(path.join(root, 'packages'))

// TypeScript takes `{a,b}` for the name of a folder: tests that it leaves out are never compiled, and nothing says so.
test('the types of every test beside a source are checked', () => {
  const folders = packages.filter((name) => name !== 'dashboard')
  expect(include).toEqual(
    expect.arrayContaining(folders.map((name) => `packages/${name}/src/**/*.ts`)),
  )
  expect(include.join()).not.toMatch(/[{}]/)
})

test('the dashboard checks its own, with the libraries of browsers', () => {
  const file = path.join(root, 'packages/dashboard/tsconfig.json')
  expect(JSON.parse(readFileSync(file, 'utf8')).include).toEqual(['src'])
})
