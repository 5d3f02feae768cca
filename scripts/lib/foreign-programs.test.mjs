import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { installForeignPrograms } from './foreign-programs.mjs'
import { npm, run } from './run.mjs'

let base
let places

beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), 'gatehouse-programs-'))
  places = { folder: path.join(base, 'programs'), home: path.join(base, 'cache') }
  mkdirSync(places.home)
  vi.spyOn(console, 'error').mockReturnValue()
})
afterEach(() => rmSync(base, { recursive: true }))

/** A package as npm packs one, whose install script would leave a file beside it. */
const pack = async (version) => {
  const folder = path.join(base, `said-${version}`)
  mkdirSync(folder)
  writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ name: 'said', version, scripts: { install: 'touch ran' } }),
  )
  writeFileSync(path.join(folder, 'index.js'), `module.exports = '${version}'`)
  await run([...npm, 'pack', '--ignore-scripts', folder], { cwd: base, capture: true })
  return `file:${base}/said-${version}.tgz`
}

const define = (name, entry) => {
  const folder = path.join(places.folder, name)
  mkdirSync(folder, { recursive: true })
  const own = { name, version: '0.0.0', description: `what ${name} is for` }
  const top = { ...own, dependencies: { said: entry.resolved ?? entry.version } }
  const packages = { '': top, 'node_modules/said': entry }
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify(top))
  writeFileSync(
    path.join(folder, 'package-lock.json'),
    JSON.stringify({ ...own, lockfileVersion: 3, requires: true, packages }),
  )
  return path.join(folder, 'node_modules/said')
}

test('installs what the lock says, runs nothing of it, and replaces it when the lock changes', async () => {
  for (const version of ['1.0.0', '2.0.0']) {
    const said = define('said-it', { version, resolved: await pack(version) })
    expect(await installForeignPrograms(['said-it'], places)).toEqual([])
    expect(readFileSync(path.join(said, 'index.js'), 'utf8')).toContain(version)
    expect(readdirSync(said)).not.toContain('ran')
    expect(readdirSync(places.home)).toHaveLength(1)
  }
  const told = vi.mocked(console.error).mock.calls.length
  expect(await installForeignPrograms(['said-it'], places)).toEqual([])
  expect(vi.mocked(console.error).mock.calls).toHaveLength(told)
})

test('names what cannot be had with what it is for, and leaves nothing half installed', async () => {
  define('gone', { version: '1.0.0', resolved: `file:${base}/gone.tgz` })
  define('there', { version: '1.0.0', resolved: await pack('1.0.0') })
  expect(await installForeignPrograms(['gone', 'there'], places)).toEqual([
    { what: 'gone', suites: 'what gone is for' },
  ])
  expect(readdirSync(places.home)).toEqual([expect.stringMatching(/^there-[0-9a-f]{16}$/)])
})
