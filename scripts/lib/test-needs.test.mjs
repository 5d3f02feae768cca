import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { ofUnitTests } from '../test-setup.mjs'
import { listForeignPrograms } from './foreign-programs.mjs'
import { root } from './run.mjs'
import { needsOf } from './test-needs.mjs'

const needs = (...files) => [...needsOf(files)].toSorted((a, b) => a.localeCompare(b))

test('pure tests need nothing of the machine', () => {
  expect(needs('packages/server/src/domain/glob.test.ts')).toEqual([])
})

test('each suite gets what it asks for itself or through its kit', () => {
  expect(needs('packages/server/src/storage/postgres/postgres.test.ts')).toEqual(['postgres'])
  expect(needs('packages/server/test/integration/mail-sync.test.ts')).toContain('dovecot')
  expect(needs('packages/server/test/integration/calendar-sync.test.ts')).toContain('radicale')
  expect(needs('packages/server/test/engine/answers.test.ts')).toEqual(['bwrap', 'engine'])
  expect(needs('packages/server/test/integration/sandbox-escape.test.ts')).toContain('bwrap')
  expect(needs('packages/server/src/log/offline.test.ts')).toEqual(['python'])
})

test('imports are followed once, and circles end', () => {
  const texts = {
    'test/a.test.ts': "import { b } from './b.ts'",
    'test/b.ts': "import { a } from './a.test.ts'\nhasProgram('chromium')",
  }
  expect([...needsOf(['test/a.test.ts'], (file) => texts[file] ?? '')]).toEqual(['chromium'])
})

test('every program that a suite can ask for is one that the set-up knows', () => {
  const kit = readFileSync(path.join(root, 'packages/testkit/src/programs.ts'), 'utf8')
  const setUp = readFileSync(path.join(root, 'scripts/test-setup.mjs'), 'utf8')
  const names = [...kit.matchAll(/^ {2}([a-z]+): '\//gm)].map((match) => match[1])
  expect(names.length).toBeGreaterThan(3)
  for (const name of names) expect(setUp).toContain(`name: '${name}'`)
})

test('unit tests ask for nothing that is still being fetched when they begin', () => {
  const folders = readdirSync(path.join(root, 'packages')).map((name) => `packages/${name}/src`)
  const units = [...folders, 'scripts'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true })
      .filter((file) => /\.test\.(ts|mjs)$/.test(file) && !file.includes('storage/postgres/'))
      .map((file) => `${folder}/${file}`),
  )
  const early = ['python', ...ofUnitTests]
  expect(needs(...units).filter((name) => !early.includes(name))).toEqual([])
})

test('every foreign program that a suite asks for has a folder, and every folder is asked for', async () => {
  const suites = ['test', 'packages/server/test/integration'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `${folder}/${file}`),
  )
  const asked = needs(...suites).filter((name) => name.startsWith('npm:'))
  const folders = await listForeignPrograms()
  expect(asked).toEqual(folders.map((name) => `npm:${name}`).toSorted((a, b) => a.localeCompare(b)))
  expect(asked.length).toBeGreaterThan(0)
})
