import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@gatehouse/testkit'
import { FakeServer, memoryLink } from '@gatehouse/testkit/fake-service'
import { until } from '@gatehouse/testkit/until'
import pg from 'pg'
import { afterAll, describe, expect, test } from 'vitest'
import type { StoredWrite } from '../../src/ports/writes.ts'
import { openPostgres } from '../../src/storage/postgres/open.ts'
import { openNode, type ProxyNode } from './node.ts'

const server = await startPostgres()
const missing = 'missing' in server
afterAll(async () => {
  if ('stop' in server) await server.stop()
})

/** Nodes that share a database, each with its own part of the log. */
async function openNodes(names: readonly string[], fake: FakeServer) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-nodes-'))
  const base = 'url' in server ? server.url : ''
  const name = `t_${randomUUID().replaceAll('-', '')}`
  const admin = new pg.Client({ connectionString: base })
  await admin.connect()
  await admin.query(`create database ${name}`)
  await admin.end()
  const url = new URL(base)
  url.pathname = `/${name}`
  const nodes: ProxyNode[] = []
  for (const node of names)
    nodes.push(
      await openNode(folder, memoryLink(fake), {
        node,
        opens: () => openPostgres({ url: url.href }),
      }),
    )
  return {
    nodes: nodes as [ProxyNode, ...ProxyNode[]],
    async [Symbol.asyncDispose]() {
      for (const node of nodes) await node[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const finalizedAll = ({ storage }: ProxyNode) =>
  until(async () => {
    const page = { statuses: ['buffered', 'executing'], limit: 1, offset: 0 } as const
    return (await storage.writes.list(page)).total === 0
  })

describe.skipIf(missing)('several nodes on one database', () => {
  test('run each write once, whoever buffered it and however many look for it (D01)', async () => {
    const fake = new FakeServer()
    await using opened = await openNodes(['a', 'b', 'c'], fake)
    const { nodes } = opened
    const ids = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        (nodes[n % nodes.length] ?? nodes[0]).buffer('send', { text: `${n}` }),
      ),
    )
    await finalizedAll(nodes[0])
    for (const id of ids) {
      expect(fake.effects.get(id)).toBe(1)
      expect(await nodes[0].storage.writes.find(id)).toMatchObject({ status: 'executed' })
    }
    expect(fake.outbox).toHaveLength(ids.length)
  })

  test('never send again what a node that is gone may still be sending (D02)', async () => {
    const fake = new FakeServer()
    await using opened = await openNodes(['a', 'b'], fake)
    const [{ storage }] = opened.nodes
    const ids = []
    for (const text of ['there', 'not there', 'not begun'])
      ids.push(await opened.nodes[0].buffer('send', { text }))
    await finalizedAll(opened.nodes[0])
    fake.outbox.length = 0
    fake.effects.clear()
    const lost = async (id: string, phase: 'sending' | 'capturing') => {
      const write = (await storage.writes.find(id)) as StoredWrite
      const gone = { owner: 'gone', lease_ms: 1, finished_ms: null, result_json: null } as const
      await storage.writes.replace(write, { ...write, ...gone, status: 'executing', phase })
    }
    const [there = '', notThere = '', notBegun = ''] = ids
    fake.outbox.push({ by: there, text: 'there' })
    await lost(there, 'sending')
    await lost(notThere, 'sending')
    await lost(notBegun, 'capturing')
    await finalizedAll(opened.nodes[0])
    expect(await storage.writes.find(there)).toMatchObject({ status: 'executed' })
    expect(await storage.writes.find(notThere)).toMatchObject({ status: 'failed', dead: true })
    expect((await storage.writes.find(notThere))?.error_json).toContain('may have arrived later')
    expect(await storage.writes.find(notBegun)).toMatchObject({ status: 'executed' })
    expect([...fake.effects]).toEqual([[notBegun, 1]])
  })
})
