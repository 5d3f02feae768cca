import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadSettings } from './load.ts'

const load = (yaml: string, environment: Record<string, string> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'gatehouse.yaml'), yaml)
  return { folder, outbound: loadSettings({ 'data-dir': folder }, environment) }
}

const ambient = {
  HTTPS_PROXY: 'http://proxy.example:3128',
  NO_PROXY: 'localhost, .intern.example',
}

test('nothing is open unless somebody opens it, and proxies of the environment are left alone', () => {
  expect(load('', ambient).outbound).toMatchObject({
    'outbound.private_targets': [],
    'outbound.ports': [],
    'outbound.ca_file': null,
    'outbound.proxy': null,
    'outbound.proxy_auth_file': null,
    'outbound.no_proxy': [],
  })
})

test('targets, ports and files are read; files lie beside the data', () => {
  const { folder, outbound } = load(
    'outbound:\n  private_targets: ["10.0.0.5:8080", "[fd00::5]:443"]\n  ports: ["8443"]\n  ca_file: ca.pem\n  proxy: https://p.example\n  proxy_auth_file: /etc/canary\n  no_proxy: [a.example]\n',
  )
  expect(outbound).toMatchObject({
    'outbound.private_targets': ['10.0.0.5:8080', '[fd00::5]:443'],
    'outbound.ports': [8443],
    'outbound.ca_file': join(folder, 'ca.pem'),
    'outbound.proxy': 'https://p.example',
    'outbound.proxy_auth_file': '/etc/canary',
    'outbound.no_proxy': ['a.example'],
  })
  expect(outbound.origins['outbound.private_targets']).toMatch(/gatehouse\.yaml:2:\d+$/)
})

test('the environment names targets as well, and its proxy where that is asked for', () => {
  const { outbound } = load('outbound: { proxy: environment, no_proxy: [a.example] }\n', {
    ...ambient,
    GATEHOUSE_OUTBOUND_PRIVATE_TARGETS: '10.0.0.5:80, 10.0.0.6:80',
  })
  expect(outbound).toMatchObject({
    'outbound.private_targets': ['10.0.0.5:80', '10.0.0.6:80'],
    'outbound.proxy': 'http://proxy.example:3128',
    'outbound.no_proxy': ['a.example', 'localhost', '.intern.example'],
  })
  expect(load('outbound: { proxy: environment }\n').outbound['outbound.proxy']).toBeNull()
  expect(
    load('outbound: { proxy: environment }\n', { https_proxy: 'http://q.example' }).outbound[
      'outbound.proxy'
    ],
  ).toBe('http://q.example')
})

test.each(['0', '65536', 'https', '-1', '80.5'])(
  'the port %j is refused where it stands',
  (port) => {
    expect(() => load(`outbound: { ports: ["${port}"] }\n`)).toThrow(
      /gatehouse\.yaml:1:\d+: outbound\.ports must be a list of ports/,
    )
  },
)
