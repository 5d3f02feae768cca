import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { withSetting } from './write-setting.ts'

const fileWith = (text: string | null): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-setting-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'gatehouse.yaml')
  if (text !== null) writeFileSync(file, text)
  return file
}

const url = 'postgres://g:a#b@db/g'

test.each([
  ['a file that is not there', null, `database_url: ${url}\n`],
  ['an empty file', '', `database_url: ${url}\n`],
  ['comments alone', '# mine\n', `# mine\n\ndatabase_url: ${url}\n`],
  [
    'other settings',
    '# mine\nhost: 0.0.0.0 # all\n',
    `# mine\nhost: 0.0.0.0 # all\ndatabase_url: ${url}\n`,
  ],
  [
    'an earlier value',
    'database_url: old\nhost: "::" # all\n',
    `database_url: ${url}\nhost: "::" # all\n`,
  ],
])('adds a setting to %s, and takes it away again', (_what, before, after) => {
  const file = fileWith(before)
  expect(withSetting(file, 'database_url', url)).toBe(after)
  writeFileSync(file, after)
  const left = withSetting(file, 'database_url', null)
  expect(left).not.toContain('database_url')
  if (before?.startsWith('#')) expect(left.trim()).toBe(before.trim())
})

test('changes nothing where the setting to take away is not there', () => {
  const text = 'host:    0.0.0.0\n\n\n# end\n'
  expect(withSetting(fileWith(text), 'database_url', null)).toBe(text)
  expect(withSetting(fileWith(null), 'database_url', null)).toBe('')
})

test('refuses a file that is no map of settings', () => {
  expect(() => withSetting(fileWith('- a\n'), 'database_url', url)).toThrow('must be a map')
  expect(() => withSetting(fileWith('a: [\n'), 'database_url', url)).toThrow('not valid YAML')
})
