import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { FakeServer, httpLink, serveFake } from '@gatehouse/testkit/fake-service'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import { bundle, start } from './kill-kit.ts'
import { openNode } from './node.ts'

const kills = process.env['GATEHOUSE_FULL'] ? 500 : 6

test('however often the service is killed, no write is executed twice and none is lost without a word', {
  timeout: 240_000 + kills * 12_000,
}, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-write-kill-'))
  const server = new FakeServer()
  const served = await serveFake(server)
  const program = await bundle('write-kill-child.ts')
  const buffered = new Map<string, string>()
  let faults = 0
  server.fault = ({ kind }) => {
    if (kind !== 'send' && kind !== 'put') return null
    faults += 1
    return faults % 29 === 0 ? 'cut' : faults % 31 === 0 ? 'drop' : null
  }
  const left = { capturing: 0, sending: 0, proving: 0 }
  try {
    let next = start(program, [folder, served.url, '0'])
    for (let run = 0; run < kills; run += 1) {
      const child = next
      await child.loaded
      child.go()
      // The next one reads its sources meanwhile.
      if (run + 1 < kills) next = start(program, [folder, served.url, String(run + 1)])
      const enough = 3 + Math.floor(Math.random() * 12)
      await until(() => child.ids.size >= enough)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 15))
      await child.kill()
      for (const [id, operation] of child.ids) buffered.set(id, operation)
    }
    const stopped = await openNodeOnly(folder)
    for (const phase of stopped) left[phase] += 1

    server.fault = () => null
    await using node = await openNode(folder, httpLink(served.url))
    await until(async () => {
      const page = { statuses: ['buffered', 'executing'], limit: 1, offset: 0 } as const
      return (await node.storage.writes.list(page)).total === 0
    })
    expect(buffered.size).toBeGreaterThan(kills * 3 - 1)
    const told = { executed: 0, unknown: 0 }
    for (const [id, operation] of buffered) {
      const write = await node.storage.writes.find(id)
      const effects = server.effects.get(id) ?? 0
      expect(effects, `${operation} ${id}`).toBeLessThanOrEqual(1)
      if (write?.status === 'executed') {
        expect(effects, `${operation} ${id}`).toBe(1)
        told.executed += 1
        continue
      }
      // Only what the service keeps no record of may stay unclear, and then it is said.
      expect(write, `${operation} ${id}`).toMatchObject({ status: 'failed', dead: true })
      expect(operation).toBe('blind')
      expect(write?.error_json).toContain('OutcomeUnknown')
      told.unknown += 1
    }
    // Writes that were never acknowledged may have run too, but not twice either.
    for (const [id, effects] of server.effects) expect(effects, id).toBe(1)
    expect((await node.audit.verify()).integrity).toBe('verified')
    if (process.env['GATEHOUSE_FULL']) console.log({ writes: buffered.size, ...told, left })
  } finally {
    await served.close()
    rmSync(folder, { recursive: true, force: true })
    rmSync(path.dirname(program), { recursive: true, force: true })
  }
})

/** The phases of what the last kill left behind. */
async function openNodeOnly(folder: string) {
  const { openSqlite } = await import('../../src/storage/sqlite/open.ts')
  await using storage = await openSqlite({ file: path.join(folder, 'gatehouse.db') })
  const { writes } = await storage.writes.list({ statuses: ['executing'], limit: 100, offset: 0 })
  return writes.flatMap(({ phase }) => (phase === null ? [] : [phase]))
}
