import { expect, test } from 'vitest'
import { createRegistry } from '../../capabilities/registry.ts'
import { standardCapabilities } from '../../capabilities/standard.ts'
import { createDigest } from '../../platform/digest.ts'
import type { UpstreamRecord } from './stored.ts'
import { ToolTable } from './tool-table.ts'

const open = () => {
  const registry = createRegistry(standardCapabilities)
  const table = new ToolTable({
    registry,
    digest: createDigest(),
    host: { schemas: async () => ({ compile: () => ({ kind: 'usable', check: () => [] }) }) },
    call: async () => ({ content: [] }),
    files: { note: () => {} },
  })
  const of = (group: string) =>
    registry.list().flatMap((one) => (one.group === group ? [one.name] : []))
  return { table, of }
}

const tool = (name: string) => ({ name, inputSchema: { type: 'object' } })

const recordOf = (
  table: ToolTable,
  accepted: readonly string[],
  seen: readonly string[] | null,
  name = 'notes',
): UpstreamRecord => ({
  name,
  config: {
    server: { kind: 'stdio', command: 'notes', args: [] },
    grants: { folders: [], hosts: [], environment: {} },
    credentials: {},
    per_agent: true,
  },
  accepted: {
    server: 'notes-server',
    tools: accepted.map((one, position) => ({
      position,
      hash: table.hash(tool(one)),
      definition: tool(one),
    })),
  },
  seen: seen && {
    server: 'notes-server',
    version: '1',
    protocol: '2025-11-25',
    tools: seen.map(tool),
  },
  login: null,
  agent_logins: {},
  change_number: 1,
  added_ms: 0,
  seen_ms: null,
})

test('an accepted tool that is listed twice is out of service, and the others go on', async () => {
  const { table, of } = open()
  await table.offer(recordOf(table, ['add', 'list'], ['add', 'add', 'list']))
  expect(of('notes')).toEqual(['notes.add', 'notes.list'])
  expect(table.lacking()).toEqual(['notes.add'])
})

test('of two accepted tools with one name the one that is there is offered', async () => {
  const { table, of } = open()
  await table.offer(recordOf(table, ['a.b', 'a_b'], ['a_b']))
  expect(of('notes')).toEqual(['notes.a_b'])
  expect(table.lacking()).toEqual([])
})

test('a vanished tool keeps the name that it was called by', async () => {
  const { table, of } = open()
  await table.offer(recordOf(table, ['_private', 'x'.repeat(100)], []))
  expect(of('notes')).toEqual(['notes.private', `notes.${'x'.repeat(64)}`])
})

test('a server with the name of a group of our own takes nothing of it, nor does its end', async () => {
  const { table, of } = open()
  const before = of('git')
  await table.offer(recordOf(table, ['add'], ['add'], 'git'))
  expect(of('git')).toEqual(before)
  table.withdraw('git')
  expect(of('git')).toEqual(before)
})

test('a record that was read before another was offered changes nothing', async () => {
  const { table, of } = open()
  const old = recordOf(table, ['add', 'list'], null)
  await table.offer(old)
  const next = { ...recordOf(table, ['add'], null), change_number: 2 }
  await table.offer(next)
  expect(await table.follow([old])).toEqual([])
  await table.offer(old)
  expect(table.find('notes')).toBe(next)
  expect(of('notes')).toEqual(['notes.add'])
})

test('a server that came while the records were read is not gone', async () => {
  const { table } = open()
  const old = recordOf(table, ['add'], null, 'old')
  await table.offer(old)
  const before = table.offered()
  const added = recordOf(table, ['add'], null)
  await table.admit(added)
  expect(await table.follow([], before)).toEqual(['old'])
  expect(table.find('notes')).toBe(added)
  // It is gone for good, whoever read it before that.
  await table.offer({ ...old, change_number: 2 })
  expect(() => table.find('old')).toThrow('old')
  await table.offer({ ...old, added_ms: 1 })
  expect(table.find('old').added_ms).toBe(1)
})
