import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const folder = new URL('../dist/bundle/', import.meta.url)
const manifest: Record<string, { readonly file: string }> = JSON.parse(
  readFileSync(new URL('.vite/manifest.json', folder), 'utf8'),
)
const parts = [...Object.values(manifest).map(({ file }) => file), 'hook-main.cjs']

/** A library that does not stand being bundled fails where its part is loaded, which for most is with a first use. */
test('every part of the bundle loads, whichever is first', async () => {
  expect(parts).toEqual(expect.arrayContaining(['main.js', 'hook-rest.js']))
  const load = `await Promise.all(process.argv.slice(1).map((part) => import(part))); process.exit(0)`
  const urls = parts.map((name) => new URL(name, folder).href)
  const program = ['--input-type=module', '--eval', load]
  const run = promisify(execFile)
  const { stderr } = await run(process.execPath, [...program, ...urls.toSorted()])
  expect(stderr).toBe('')
})
