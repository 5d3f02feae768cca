import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AddUpstream } from '@gatehouse/contract'
import { seeded } from '@gatehouse/testkit/installation/seeds'
import { beforeAll, expect, test } from 'vitest'
import { createCliKit } from './kit.ts'

let docs = ''
beforeAll(() => {
  docs = realpathSync(mkdtempSync(join(tmpdir(), 'gatehouse-docs-')))
  return () => rmSync(docs, { recursive: true, force: true })
})

const line = (...more: readonly string[]) => [
  ...['upstream', 'add', 'papers', ...more],
  ...['--', 'npx', '-y', 'papers-server', docs],
]

test('asks at a terminal for each thing that a server needs, shows what it got, and then its tools', async () => {
  const kit = createCliKit()
  const { code, err } = await kit.gatehouse(line(), { columns: 100, answer: 'y' })
  expect(code).toBe(0)
  const asked = [`May papers read ${docs}? [y, w to write too, N] `]
  asked.push('May papers connect to registry.npmjs.org:443? [y/N] ')
  for (const question of asked) expect(err).toContain(question)
  expect(err).toContain(
    `Folders: ${docs} (read only)\nHosts: registry.npmjs.org:443\nEnvironment: nothing\n`,
  )
  expect(err.indexOf('Folders: ')).toBeLessThan(err.indexOf('of papers to agents?'))
  const grants = { folders: [{ path: docs, read_only: true }], hosts: ['registry.npmjs.org:443'] }
  expect(kit.sentTo('addUpstream')).toMatchObject([
    { dry_run: true, grants },
    { dry_run: false, grants },
  ])
})

test('asks for nothing that is granted already, and grants nothing that is refused', async () => {
  const kit = createCliKit()
  const granted = line('--folder', `${docs}:rw`, '--host', 'registry.npmjs.org:443')
  const { err } = await kit.gatehouse(granted, { columns: 100, answer: 'y' })
  expect(err).not.toContain('May papers')
  expect(err).toContain(`Folders: ${docs} (may write)\n`)
  const other = createCliKit()
  await other.gatehouse(line(), { columns: 100, answer: 'n' })
  expect(other.sentTo('addUpstream')).toMatchObject([
    { dry_run: true, grants: { folders: [], hosts: [] } },
  ])
})

test('asks about a host that the server tried to reach, and looks once more with it', async () => {
  const kit = createCliKit()
  const command = ['upstream', 'add', 'papers', '--', 'curious']
  const { code, err } = await kit.gatehouse(command, { columns: 100, answer: 'y' })
  expect(code).toBe(0)
  expect(err.split('May papers connect to news.example:443? [y/N] ')).toHaveLength(2)
  expect(err).toContain('Hosts: news.example:443\n')
  expect(err).not.toContain('tried to reach')
  const hosts = kit.sentTo('addUpstream').map((order) => (order as AddUpstream).grants.hosts)
  expect(hosts).toEqual([[], ['news.example:443'], ['news.example:443']])
  const other = createCliKit()
  const refused = await other.gatehouse(command, { columns: 100, answer: 'n' })
  expect(refused.err).toContain('papers tried to reach news.example:443, which it may not.')
})

test.each([
  ['with nobody to ask', {}],
  ['where the question is answered before', { columns: 200 }],
])('grants nothing unasked %s, and says which options would', async (_where, terminal) => {
  const kit = createCliKit()
  const { err } = await kit.gatehouse(line('--yes'), terminal)
  expect(err).toContain(`It needs ${docs}, which it may not see: grant it with --folder.`)
  expect(err).toContain(
    'It needs registry.npmjs.org:443, which it may not reach: grant it with --host.',
  )
  expect(kit.sentTo('addUpstream')).toMatchObject([
    { grants: { folders: [], hosts: [] } },
    { grants: { folders: [], hosts: [] } },
  ])
})

test('where nothing waits, or no tool has the name, accepting and declining say so in a line', async () => {
  const kit = createCliKit()
  await kit.gatehouse(['upstream', 'accept', seeded.waitingUpstream, '--yes'])
  const accept = ['upstream', 'accept', seeded.waitingUpstream]
  expect(await kit.gatehouse(accept)).toMatchObject({ code: 0, err: '' })
  expect((await kit.gatehouse(['upstream', 'decline', seeded.waitingUpstream])).out).toBe(
    `No tool of ${seeded.waitingUpstream} waits, so none is declined.\n`,
  )
  const unknown = await kit.gatehouse([...accept, '--tool', 'nope'])
  expect(unknown.code).toBe(2)
  expect(unknown.err).toMatch(/^error: \S+ has no tool nope\. \(WrongUsage\)/)
  expect((await kit.gatehouse(['upstream', 'logout', 'notes'])).out).toBe(
    'notes needs no login, and has none.\n',
  )
})
