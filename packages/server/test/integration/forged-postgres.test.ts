import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@gatehouse/testkit'
import pg from 'pg'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLinker } from '../../src/domain/audit/chain.ts'
import { openAuditLog } from '../../src/log/audit-log.ts'
import { hashing } from '../../src/log/hashing.ts'
import { setAsideFile } from '../../src/log/set-aside.ts'
import { headFile } from '../../src/log/signed-head.ts'
import { draft, silent, textOf } from '../../src/log/testing.ts'
import { createClock } from '../../src/platform/clock.ts'
import { createIds } from '../../src/platform/ids.ts'
import { openPostgres } from '../../src/storage/postgres/open.ts'

const server = await startPostgres()
const url = 'url' in server ? server.url : ''
afterAll(async () => {
  if ('stop' in server) await server.stop()
})

const filter = { limit: 100, offset: 0 }
const forgedId = `aud-${'z'.repeat(26)}`

const query = async (text: string, values: readonly unknown[] = []): Promise<pg.QueryResult> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(text, [...values])
  } finally {
    await client.end()
  }
}

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-forged-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const openLog = async (directory: string, chain: string) => {
  const storage = await openPostgres({ url })
  const parts = { storage, directory, chain, ids: createIds(), clock: createClock(0), log: silent }
  const sharedKey = (): string => 'one key'
  const auditLog = await openAuditLog({ ...parts, sharedKey, verifyEveryMs: 0 })
  return {
    auditLog,
    async fill(count: number) {
      for (let i = 0; i < count; i += 1) await auditLog.append(draft())
    },
    async [Symbol.asyncDispose]() {
      await auditLog[Symbol.asyncDispose]()
      await storage[Symbol.asyncDispose]()
    },
  }
}

/** Puts an approval that nobody gave into the copies, in a chain of hashes that fits. */
const forge = async (chain: string): Promise<void> => {
  const last = 'select seq, hash, body from audit_copies where chain = $1 order by seq desc limit 1'
  const found = await query(last, [chain])
  const { hash: prev, body: given, seq } = found.rows[0] as Record<string, unknown>
  const place = { seq: Number(seq) + 1, id: `${forgedId}-${chain}` }
  const act = { capability: 'approval.approved', kind: 'act' }
  const body = JSON.stringify({ ...JSON.parse(String(given)), actor: 'user:ana', ...act, ...place })
  const hash = createLinker(hashing).link(String(prev), place.seq, body)
  const insert = 'insert into audit_copies (chain, seq, hash, body) values ($1, $2, $3, $4)'
  await query(insert, [chain, place.seq, hash, body])
}

describe.skipIf('missing' in server)('on PostgreSQL, an entry that nobody here wrote', () => {
  test('is named at the next start of a stopped service, and never taken in', async () => {
    const [directory, chain] = [newFolder(), 'stopped']
    {
      await using log = await openLog(directory, chain)
      await log.fill(3)
    }
    await forge(chain)
    await using log = await openLog(directory, chain)
    const page = await log.auditLog.query(filter)
    expect(page).toMatchObject({ integrity: 'failed', kind: 'inserted', first_bad_seq: 3 })
    expect(JSON.stringify(page.entries)).not.toContain('user:ana')
    expect(await textOf(log.auditLog.export())).not.toContain('user:ana')
    expect(readFileSync(join(directory, setAsideFile), 'utf8')).toContain(forgedId)
    expect((await log.auditLog.append(draft())).seq).toBe(3)
    expect(await log.auditLog.acknowledge('we know')).toMatchObject({ integrity: 'verified' })
  })

  test('is named while the service runs, and costs no call', async () => {
    const [directory, chain] = [newFolder(), 'running']
    await using log = await openLog(directory, chain)
    await log.fill(3)
    await forge(chain)
    expect((await log.auditLog.append(draft())).seq).toBe(3)
    expect(await log.auditLog.verify()).toMatchObject({
      integrity: 'failed',
      kind: 'inserted',
      first_bad_seq: 3,
      first_bad_id: `${forgedId}-${chain}`,
    })
    expect((await log.auditLog.query(filter)).entries[0]).toMatchObject({
      capability: 'filesystem.read',
    })
  })

  test('is told from what a crash left between an entry and its head', async () => {
    const [directory, chain] = [newFolder(), 'crashed']
    {
      await using log = await openLog(directory, chain)
      await log.fill(3)
    }
    const head = readFileSync(join(directory, headFile))
    {
      await using log = await openLog(directory, chain)
      await log.fill(1)
    }
    writeFileSync(join(directory, headFile), head)
    rmSync(join(directory, 'checkpoints.log'))
    await using log = await openLog(directory, chain)
    expect(await log.auditLog.verify()).toMatchObject({
      integrity: 'verified',
      verified_through: 3,
    })
  })
})
