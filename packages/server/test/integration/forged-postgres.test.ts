import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@gatehouse/testkit'
import pg from 'pg'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { hashing } from '../../src/audit/hashing.ts'
import { openJournal } from '../../src/audit/journal.ts'
import { markFile } from '../../src/audit/mark.ts'
import { setAsideFile } from '../../src/audit/set-aside.ts'
import { draft, silent, textOf } from '../../src/audit/testing.ts'
import { createLinker } from '../../src/domain/audit/chain.ts'
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
  const journal = await openJournal({ ...parts, verifyEveryMs: 0 })
  return {
    journal,
    async fill(count: number) {
      for (let i = 0; i < count; i += 1) await journal.append(draft())
    },
    async [Symbol.asyncDispose]() {
      await journal[Symbol.asyncDispose]()
      await storage[Symbol.asyncDispose]()
    },
  }
}

/** Appends an approval that nobody gave, in a chain of hashes that fits. */
const forge = async (chain: string): Promise<void> => {
  const found = await query('select * from audit where chain = $1 order by seq desc limit 1', [
    chain,
  ])
  const last = found.rows[0] as Record<string, unknown>
  const place = { seq: Number(last['seq']) + 1, id: `${forgedId}-${chain}` }
  const given = { capability: 'approval.approved', kind: 'act' }
  const body = JSON.stringify({
    ...JSON.parse(String(last['body'])),
    actor: 'user:ana',
    ...given,
    ...place,
  })
  const hash = createLinker(hashing).link(String(last['hash']), place.seq, body)
  const row: Record<string, unknown> = { ...last, ...given, ...place, body, hash }
  const names = Object.keys(row)
  await query(
    `insert into audit (${names.join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})`,
    Object.values(row),
  )
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
    const page = await log.journal.query(filter)
    expect(page).toMatchObject({ integrity: 'failed', kind: 'inserted', first_bad_seq: 3 })
    expect(JSON.stringify(page.entries)).not.toContain('user:ana')
    expect(await textOf(log.journal.export())).not.toContain('user:ana')
    expect(readFileSync(join(directory, setAsideFile), 'utf8')).toContain('user:ana')
    expect((await log.journal.append(draft())).seq).toBe(3)
    expect(await log.journal.acknowledge('we know')).toMatchObject({ integrity: 'verified' })
  })

  test('is named while the service runs, and costs one call at most', async () => {
    const [directory, chain] = [newFolder(), 'running']
    await using log = await openLog(directory, chain)
    await log.fill(3)
    await forge(chain)
    await log.journal.append(draft()).catch(() => null)
    expect((await log.journal.append(draft())).seq).toBe(3)
    expect(await log.journal.verify()).toMatchObject({
      integrity: 'failed',
      kind: 'inserted',
      first_bad_seq: 3,
      first_bad_id: `${forgedId}-${chain}`,
    })
  })

  test('is told from what a crash left between a commit and its mark', async () => {
    const [directory, chain] = [newFolder(), 'crashed']
    {
      await using log = await openLog(directory, chain)
      await log.fill(3)
    }
    const mark = readFileSync(join(directory, markFile))
    {
      await using log = await openLog(directory, chain)
      await log.fill(1)
    }
    writeFileSync(join(directory, markFile), mark)
    rmSync(join(directory, 'checkpoints.log'))
    await using log = await openLog(directory, chain)
    expect(await log.journal.verify()).toMatchObject({
      integrity: 'verified',
      verified_through: 3,
    })
  })
})
