import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadSettings } from './load.ts'

const explain = (
  yaml: string | undefined,
  flags: Record<string, string | boolean> = {},
  environment: Record<string, string> = {},
) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  if (yaml !== undefined) writeFileSync(join(folder, 'gatehouse.yaml'), yaml)
  const { configuration } = loadSettings({ 'data-dir': folder, ...flags }, environment)
  const settingOf = (key: string) => {
    const found = configuration.settings.find((setting) => setting.key === key)
    if (!found) throw new Error(`${key} is not explained`)
    return found
  }
  return { folder, configuration, settingOf, text: JSON.stringify(configuration) }
}

test('each value is explained with where it was set, its default and its purpose', () => {
  const { settingOf } = explain(
    'host: 0.0.0.0\napprovals:\n  ttl: 90m\n  hold: 5m\n',
    { 'gateway-port': '3000', 'no-first-agent': true },
    { GATEHOUSE_APPROVALS_HOLD: '120s', GATEHOUSE_GATEWAY_PORT: '2000' },
  )
  expect(settingOf('approvals.ttl')).toEqual({
    key: 'approvals.ttl',
    value: '90m',
    set: true,
    secret: false,
    origin: 'file',
    source: 'gatehouse.yaml:3',
    default: '24h',
    purpose: 'How long a request waits for a person before it expires.',
  })
  expect(settingOf('approvals.hold')).toMatchObject({
    value: '120s',
    origin: 'environment',
    source: 'GATEHOUSE_APPROVALS_HOLD',
  })
  expect(settingOf('gateway_port')).toMatchObject({
    value: 3000,
    origin: 'flag',
    source: '--gateway-port',
    default: 7700,
  })
  expect(settingOf('first_agent')).toMatchObject({ value: false, source: '--no-first-agent' })
  expect(settingOf('catalog.refresh')).toMatchObject({
    value: '24h',
    set: false,
    origin: 'default',
    source: null,
  })
})

test('a path is explained as the one it leads to, and the file as the one that was read', () => {
  const { folder, configuration, settingOf } = explain('audit: { checkpoint_copy: heads.txt }\n')
  const file = join(folder, 'gatehouse.yaml')
  expect(configuration.file).toBe(file)
  expect(settingOf('config')).toMatchObject({ value: file, set: false, origin: 'default' })
  expect(settingOf('data_dir')).toMatchObject({ value: folder, source: '--data-dir' })
  expect(settingOf('audit.checkpoint_copy').value).toBe(join(folder, 'heads.txt'))
  const without = explain(undefined)
  expect(without.configuration.file).toBeNull()
  expect(without.settingOf('config').value).toBe(join(without.folder, 'gatehouse.yaml'))
})

test('a list and a map are explained as they were written', () => {
  const { settingOf } = explain(
    'proxy: { delays: [mail.send=2m] }\noutbound: { ports: ["8443"] }\non_wake: { mailbot: [wake, now] }\n',
  )
  expect(settingOf('proxy.delays').value).toEqual(['mail.send=2m'])
  expect(settingOf('outbound.ports').value).toEqual(['8443'])
  expect(settingOf('on_wake').value).toEqual({ mailbot: ['wake', 'now'] })
})

const hook = '- { name: ops, kind: slack, url: "https://hooks.slack.com/T0/B0/x4kq" }'

test('of a database and of notification targets it is told that they are set, and never the value', () => {
  const { settingOf, text } = explain(
    `database_url: postgres://g:open-sesame@db/g\nnotifications:\n  ${hook}\n`,
  )
  for (const key of ['database_url', 'notifications'])
    expect(settingOf(key)).toMatchObject({ value: null, set: true, secret: true, origin: 'file' })
  expect(text).not.toMatch(/open-sesame|hooks\.slack\.com/)
  const { settingOf: usual } = explain('')
  for (const key of ['database_url', 'notifications'])
    expect(usual(key)).toMatchObject({ value: null, set: false, secret: true })
})

const token = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'

test.each([
  ['catalog.url', `catalog: { url: "https://models.example/c.json?token=${token}" }`],
  ['models.mirrors', `models: { mirrors: ["huggingface.co=https://mirror.example/${token}"] }`],
  ['on_wake', `on_wake: { mailbot: [curl, -H, "Authorization: Bearer ${token}"] }`],
  ['outbound.proxy', `outbound: { proxy: "http://ana:${token}@proxy.example:3128" }`],
])('a secret that somebody put into %s is not shown', (key, yaml) => {
  const { settingOf, text } = explain(`${yaml}\n`)
  expect(settingOf(key)).toMatchObject({ value: null, set: true, secret: true })
  expect(text).not.toContain(token)
})

test.each([
  ['catalog.url', 'https://models.example/catalog.json'],
  ['outbound.proxy', 'http://proxy.example:3128'],
])('an address without a secret in %s is shown', (key, url) => {
  const [group = '', name = ''] = key.split('.')
  const { settingOf } = explain(`${group}: { ${name}: "${url}" }\n`)
  expect(settingOf(key)).toMatchObject({ value: url, secret: false })
})

test('a proxy that the environment names is shown without its password, and as the one in use', () => {
  const yaml = 'outbound: { proxy: environment }\n'
  const used = explain(yaml, {}, { HTTPS_PROXY: 'http://proxy.example:3128' })
  expect(used.settingOf('outbound.proxy')).toMatchObject({
    value: 'http://proxy.example:3128',
    origin: 'file',
  })
  const { settingOf } = explain(yaml, {}, { HTTPS_PROXY: 'http://g:sesame@proxy.example:3128' })
  expect(settingOf('outbound.proxy')).toMatchObject({ value: null, secret: true })
})
