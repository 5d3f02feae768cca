import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadSettings } from './load.ts'

const settingsOf = (yaml: string) => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'gatehouse.yaml'), yaml)
  return { folder, load: () => loadSettings({ 'data-dir': folder }, {}) }
}

const listOf = (...lines: readonly string[]) =>
  `notifications:\n${lines.map((line) => `  - { ${line} }\n`).join('')}`

test('targets are read, with the usual events and files beside the data', () => {
  const { folder, load } = settingsOf(
    listOf(
      'name: ops, kind: webhook, url: "http://10.0.0.7/hook", secret_file: ops.secret',
      'name: phone, kind: ntfy, url: "https://ntfy.sh/my-topic", events: [capability.notified]',
    ),
  )
  expect(load().notifications).toEqual([
    {
      name: 'ops',
      kind: 'webhook',
      url: 'http://10.0.0.7/hook',
      secretFile: join(folder, 'ops.secret'),
      events: ['approval.pending', 'approval.resolved', 'question.pending', 'alert.raised'],
    },
    {
      name: 'phone',
      kind: 'ntfy',
      url: 'https://ntfy.sh/my-topic',
      secretFile: null,
      events: ['capability.notified'],
    },
  ])
  expect(settingsOf('').load().notifications).toEqual([])
})

test('a mail target has a server, a sender and its receivers', () => {
  const { folder, load } = settingsOf(
    listOf(
      'name: me, kind: mail, url: "smtp://mail.example:587", user: g, secret_file: m, from: g@mail.example, to: [a@b.c, d@e.f]',
    ),
  )
  expect(load().notifications).toMatchObject([
    {
      url: 'smtp://mail.example:587',
      secretFile: join(folder, 'm'),
      mail: { from: 'g@mail.example', to: ['a@b.c', 'd@e.f'], user: 'g' },
    },
  ])
})

test.each([
  ['name: ops, kind: webhook, url: "ftp://a/b"', 'url must begin with https:// or http://'],
  ['name: ops, kind: webhook, url: "file:///etc/passwd"', 'url must begin with'],
  ['name: ops, kind: webhook, url: nowhere', 'url must be an address'],
  ['name: ops, kind: webhook', 'url must be an address'],
  ['name: ops, kind: webhook, url: "https://u:p@a/b"', 'url must not hold a name or a password'],
  ['name: ops, kind: ntfy, url: "https://ntfy.sh/"', 'url must end with the topic'],
  ['name: ops, kind: pager, url: "https://a/b"', 'kind must be one of webhook, ntfy, slack, mail'],
  ['name: ops, kind: mail, url: "https://a/b"', 'url must begin with smtps:// or smtp://'],
  ['name: ops, kind: mail, url: "smtp://a:587/inbox"', 'url must be scheme, host and port alone'],
  [
    'name: ops, kind: mail, url: "smtp://u:p@a"',
    'url must not hold a name or a password; put them into user',
  ],
  ['name: ops, kind: mail, url: "smtps://a"', 'from must be a mail address'],
  ['name: ops, kind: mail, url: "smtps://a", from: g@a', 'to must be a mail address'],
  [
    'name: ops, kind: mail, url: "smtps://a", from: g@a, to: "b@c, d@e"',
    'to must be a mail address',
  ],
  [
    'name: ops, kind: mail, url: "smtps://a", from: g@a, to: b@c, user: g',
    'user and secret_file stand together',
  ],
  ['name: ops, kind: webhook, url: "https://a", to: b@c', 'has no key to'],
  ['name: Ops!, kind: webhook, url: "https://a/b"', 'name must be'],
  ['name: ops, kind: slack, url: "https://a/b", secret_file: x', 'secret_file is of no use'],
  ['name: ops, kind: webhook, url: "https://a/b", events: [all]', 'events must be a list of'],
  ['name: ops, kind: webhook, url: "https://a/b", secret: abc', 'has no key secret;'],
])('%s is refused where it stands, by its field', (line, message) => {
  const { load } = settingsOf(listOf('name: a, kind: slack, url: "https://a/b"', line))
  expect(load).toThrow(/gatehouse\.yaml:1:1|gatehouse\.yaml:2:\d+/)
  expect(load).toThrow(`notifications at place 2: ${message}`)
})

test('a name that stands twice is refused', () => {
  const line = 'name: a, kind: slack, url: "https://a/b"'
  expect(settingsOf(listOf(line, line)).load).toThrow('notifications names a twice')
})
