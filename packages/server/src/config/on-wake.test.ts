import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { loadSettings } from './load.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const settingsOf = (yaml: string, flags: Record<string, string> = {}, environment = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-config-'))
  folders.push(folder)
  writeFileSync(join(folder, 'gatehouse.yaml'), yaml)
  return loadSettings({ 'data-dir': folder, ...flags }, environment)
}

test('commands for wakes are a program and its arguments, agent by agent', () => {
  const text = 'on_wake:\n  mailbot: [/bin/run, --once]\n  other: ["./x"]\n'
  expect(settingsOf(text).on_wake).toEqual({ mailbot: ['/bin/run', '--once'], other: ['./x'] })
  expect(settingsOf('').on_wake).toEqual({})
  expect(settingsOf('', { 'on-wake': '{"mailbot":["a"]}' }).on_wake).toEqual({ mailbot: ['a'] })
})

test.each([
  ['a line for a shell', 'on_wake:\n  mailbot: run --once\n'],
  ['nothing to start', 'on_wake:\n  mailbot: []\n'],
  ['an empty program', 'on_wake:\n  mailbot: ["", x]\n'],
  ['a number', 'on_wake:\n  mailbot: [run, 1]\n'],
  ['no name of an agent', 'on_wake:\n  Mail Bot: [run]\n'],
  ['a list', 'on_wake: [run]\n'],
])('%s is no command and is refused where it stands', (_what, yaml) => {
  expect(() => settingsOf(yaml)).toThrow(/gatehouse\.yaml:\d+:\d+: on_wake must name agents/)
})

test('commands inherit a few variables by name and no other', () => {
  const { commandEnvironment } = settingsOf('', {}, { PATH: '/bin', TOKEN: 'secret', HOME: '/h' })
  expect(commandEnvironment).toEqual({ PATH: '/bin', HOME: '/h' })
})
