import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, expectTypeOf, onTestFinished, test } from 'vitest'
import { fields } from './fields.ts'
import { loadSettings } from './load.ts'

const folderWith = (yaml?: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  if (yaml !== undefined) writeFileSync(join(folder, 'gatehouse.yaml'), yaml)
  return folder
}

test('a flag wins over the environment, that over the file, that over the default', () => {
  const folder = folderWith('gateway_port: 1000\nuser_api_port: 1001\nhost: 0.0.0.0\n')
  const settings = loadSettings(
    { 'data-dir': folder, 'gateway-port': '3000' },
    { GATEHOUSE_GATEWAY_PORT: '2000', GATEHOUSE_USER_API_PORT: '2001' },
  )
  expect(settings).toMatchObject({
    gateway_port: 3000,
    user_api_port: 2001,
    host: '0.0.0.0',
    'server.json_depth_max': 64,
  })
  expect(settings.origins).toMatchObject({
    gateway_port: '--gateway-port',
    user_api_port: 'GATEHOUSE_USER_API_PORT',
    host: `${folder}/gatehouse.yaml:3:1`,
    'server.json_depth_max': 'default',
  })
})

test('nested keys, lists and durations are read', () => {
  const folder = folderWith('server:\n  allowed_hosts: [gate.example]\napprovals:\n  ttl: 90m\n')
  const settings = loadSettings({ 'data-dir': folder }, {})
  expect(settings).toMatchObject({
    'server.allowed_hosts': ['gate.example'],
    'approvals.ttl': 5_400_000,
  })
})

test('--no-first-agent turns the first agent off', () => {
  expect(loadSettings({ 'data-dir': folderWith(), 'no-first-agent': true }, {}).first_agent).toBe(
    false,
  )
  expect(loadSettings({ 'data-dir': folderWith() }, {}).first_agent).toBe(true)
})

test.each([
  [
    'gatway_port: 1\n',
    'gatehouse.yaml:1:1: there is no setting gatway_port. Did you mean gateway_port?',
  ],
  ['host: a\nhost: b\n', 'gatehouse.yaml:2:1: is not valid YAML (DUPLICATE_KEY)'],
  ['gateway_port: many\n', 'gatehouse.yaml:1:15: gateway_port must be a whole number'],
  ['gateway_port: 70000\n', 'gatehouse.yaml:1:15: gateway_port must lie between 0 and 65535'],
  [
    'approvals: {ttl: soon}\n',
    'gatehouse.yaml:1:18: approvals.ttl must be a duration such as 30s, 15m, 24h or 7d',
  ],
  ['- a\n', 'gatehouse.yaml:1:1: the file must be a map of settings'],
  [
    'data_dir: /tmp\n',
    'gatehouse.yaml:1:1: data_dir decides where this file is, so it cannot stand in it',
  ],
])('refuses %j at its position', (yaml, message) => {
  const folder = folderWith(yaml)
  expect(() => loadSettings({ 'data-dir': folder }, {})).toThrow(`${folder}/${message}`)
})

test('a file that is named but missing is an error; the usual one may be missing', () => {
  const folder = folderWith()
  expect(() => loadSettings({ 'data-dir': folder, config: join(folder, 'no.yaml') }, {})).toThrow(
    'cannot be read',
  )
  expect(loadSettings({ 'data-dir': folder }, {}).gateway_port).toBe(7700)
})

test('the content of a file that is no configuration is not repeated in the error', () => {
  const folder = folderWith('root:$6$secret:19000:0\n\tx: [')
  expect(() => loadSettings({ 'data-dir': folder }, {})).toThrow(/^(?!.*secret)/s)
})

test('files with several names are refused where the operator says so', () => {
  expect(loadSettings({ 'data-dir': folderWith() }, {})['files.deny_hardlinks']).toBe(false)
  const settings = loadSettings({ 'data-dir': folderWith('files: { deny_hardlinks: true }\n') }, {})
  expect(settings['files.deny_hardlinks']).toBe(true)
  expect(() =>
    loadSettings({ 'data-dir': folderWith('files: { deny_hardlinks: 2 }\n') }, {}),
  ).toThrow(/files\.deny_hardlinks/)
})

test('every field is a setting by its key, of the type that the field gives it', () => {
  const settings = loadSettings({ 'data-dir': folderWith() }, {})
  const { commandEnvironment, origins, configuration, ...values } = settings
  const keys = fields.map(({ key }) => key).toSorted()
  expect(Object.keys(values).toSorted()).toEqual(keys)
  expect(Object.keys(origins).toSorted()).toEqual(keys)
  expect(configuration.settings.map(({ key }) => key).toSorted()).toEqual(keys)
  expect(commandEnvironment).toEqual({})
  expectTypeOf(settings.data_dir).toEqualTypeOf<string>()
  expectTypeOf(settings.database_url).toEqualTypeOf<string | null>()
  expectTypeOf(settings['alerts.approval_wait']).toEqualTypeOf<number>()
  expectTypeOf(settings['proxy.sync_every']).toEqualTypeOf<number | null>()
  expectTypeOf(settings['server.allowed_hosts']).toEqualTypeOf<readonly string[]>()
  expectTypeOf(settings['proxy.delays']).toEqualTypeOf<ReadonlyMap<string, number>>()
  expectTypeOf(settings['sandbox.mode']).toEqualTypeOf<
    'auto' | 'bubblewrap' | 'landlock' | 'unconfined'
  >()
})
