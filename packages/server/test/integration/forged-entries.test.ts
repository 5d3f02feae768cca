import {
  closeSync,
  cpSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentName } from '@gatehouse/contract'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createLinker } from '../../src/domain/audit/chain.ts'
import { openAuditLog } from '../../src/log/audit-log.ts'
import { indexFolder } from '../../src/log/entry-index/block-files.ts'
import { encodeFrame, type LoggedEntry, lineOf, noteText } from '../../src/log/frame.ts'
import { hashing } from '../../src/log/hashing.ts'
import { LogReader } from '../../src/log/log-files.ts'
import { setAsideFile } from '../../src/log/set-aside.ts'
import { headFile } from '../../src/log/signed-head.ts'
import { draft, entriesIn, frameAt, silent, textOf, writeEntries } from '../../src/log/testing.ts'
import { createClock } from '../../src/platform/clock.ts'
import { createIds } from '../../src/platform/ids.ts'
import type { StoredAgent } from '../../src/ports/agents.ts'
import type { Log } from '../../src/ports/log.ts'
import { openSqlite } from '../../src/storage/sqlite/open.ts'

const chain = 'node-1'
const filter = { limit: 100, offset: 0 }
const forgedId = `aud-${'z'.repeat(26)}`

const agentOf = (name: string): StoredAgent => ({
  name: name as AgentName,
  purpose: '',
  status: 'active',
  approvals: 'pending',
  workspace: '/data',
  site: null,
  mounts: [],
  tools: [],
  limits: [],
  created_ms: 0,
  last_connected_ms: null,
  total_invocations: 0,
  token_hash: '',
  token_ms: 0,
  previous_token_hash: null,
  previous_until_ms: null,
  generation: 1,
})

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-forged-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The log as the service opens it. */
const openLog = async (folder: string, log: Log = silent) => {
  const directory = join(folder, 'audit')
  const clock = createClock(0)
  const storage = await openSqlite({ file: join(folder, 'gatehouse.db') })
  const auditLog = await openAuditLog({
    storage,
    directory,
    chain,
    ids: createIds(),
    clock,
    log,
    verifyEveryMs: 0,
  })
  return {
    auditLog,
    storage,
    async fill(count: number) {
      for (let i = 0; i < count; i += 1) await auditLog.append(draft())
    },
    /** An act with a change of the store, as an approval is. */
    async act() {
      await auditLog.transaction(async (tx) => {
        await tx.meta.set('policy', 'v2')
        tx.append(draft({ kind: 'act', capability: 'policy.changed' }))
      })
    },
    async [Symbol.asyncDispose]() {
      await auditLog[Symbol.asyncDispose]()
      await storage[Symbol.asyncDispose]()
    },
  }
}

/** Copy of the folder as a kill at this moment leaves it. */
const killed = (folder: string): string => {
  const copy = newFolder()
  cpSync(folder, copy, { recursive: true })
  return copy
}

const logOf = (folder: string): string => join(folder, 'audit')

/** Appends an approval that nobody gave, in a chain of hashes that fits. */
const forge = (folder: string): void => {
  const files = new LogReader(logOf(folder))
  const seq = files.end
  const last = files.entry(seq - 1) as LoggedEntry
  const given = { capability: 'approval.approved', actor: 'user:ana', kind: 'act' }
  const body = JSON.stringify({ ...JSON.parse(last.body), ...given, seq, id: forgedId })
  const hash = createLinker(hashing).link(last.hash, seq, body)
  const note = noteText({ stamps: [], agents: [], sessions: [], clockMs: 0, vault: null })
  const frame = encodeFrame(seq, 1, note + lineOf(hash, last.seal, body), Buffer.alloc(32, 1))
  const place = frameAt(logOf(folder), seq - 1)
  const fd = openSync(place.file, 'r+')
  writeSync(fd, frame, 0, frame.length, place.at + place.bytes)
  closeSync(fd)
}

const setAside = (folder: string): string =>
  readFileSync(join(folder, 'audit', setAsideFile), 'utf8')

type OpenedLog = Awaited<ReturnType<typeof openLog>>

/** Forged entries are not shown, exported or vouched for; they are named until somebody acknowledges them. */
const expectNamed = async (log: OpenedLog, folder: string, seq: number): Promise<void> => {
  const page = await log.auditLog.query(filter)
  expect(page).toMatchObject({
    integrity: 'failed',
    kind: 'inserted',
    first_bad_seq: seq,
    first_bad_id: forgedId,
  })
  expect(page.verified_through).toBeLessThan(page.total)
  const again = await log.auditLog.query(filter)
  expect(again.entries.map(({ id }) => id)).not.toContain(forgedId)
  expect(again.integrity).toBe('failed')
  expect(await textOf(log.auditLog.export())).not.toContain(forgedId)
  expect(await log.auditLog.find(forgedId)).toBeNull()
  expect(log.auditLog.health()).toMatchObject({ status: 'degraded' })
  expect(setAside(folder)).toContain(forgedId)
}

describe('an entry that somebody without a key put behind the last one', () => {
  test('is named by the start after one that ended while it told of it', async () => {
    const folder = newFolder()
    {
      await using log = await openLog(folder)
      await log.fill(5)
    }
    forge(folder)
    const error = () => {
      throw new Error('killed')
    }
    await expect(openLog(folder, { ...silent, error })).rejects.toThrow('killed')
    await using log = await openLog(folder)
    await expectNamed(log, folder, 5)
  })

  test('of a stopped service is named at the next start, and never taken in', async () => {
    const folder = newFolder()
    {
      await using log = await openLog(folder)
      await log.fill(5)
    }
    forge(folder)
    {
      await using log = await openLog(folder)
      await expectNamed(log, folder, 5)
      expect((await log.auditLog.append(draft())).seq).toBe(5)
    }
    await using log = await openLog(folder)
    expect(await log.auditLog.verify()).toMatchObject({ integrity: 'failed', kind: 'inserted' })
    expect(await log.auditLog.acknowledge('we know')).toMatchObject({ integrity: 'verified' })
    const { entries, total } = await log.auditLog.query(filter)
    expect(total).toBe(7)
    expect(entries[0]).toMatchObject({ capability: 'audit.acknowledged' })
    expect(JSON.stringify(entries.slice(1))).not.toContain(forgedId)
  })

  test('of a killed service costs none of the entries that were answered', async () => {
    const running = newFolder()
    await using before = await openLog(running)
    await before.fill(6)
    const folder = killed(running)
    forge(folder)
    await using log = await openLog(folder)
    await expectNamed(log, folder, 6)
    expect((await log.auditLog.query(filter)).total).toBe(6)
  })

  test('of a running service is named by the next query, and nothing that follows is lost', async () => {
    const folder = newFolder()
    await using log = await openLog(folder)
    await log.fill(3)
    forge(folder)
    await expectNamed(log, folder, 3)
    await log.fill(2)
    await log.act()
    expect((await log.auditLog.query(filter)).total).toBe(6)
    expect(await log.auditLog.acknowledge('we know')).toMatchObject({ integrity: 'verified' })
  })

  test('of a running service is gone with the next entry, which takes its place', async () => {
    const folder = newFolder()
    await using log = await openLog(folder)
    await log.fill(3)
    forge(folder)
    await log.fill(2)
    const page = await log.auditLog.query(filter)
    expect(page).toMatchObject({ total: 5, verified_through: 4 })
    expect(JSON.stringify(page.entries)).not.toContain(forgedId)
  })

  test('of a running service is named where an entry waits its turn, which then takes its place', async () => {
    const folder = newFolder()
    await using log = await openLog(folder)
    await log.fill(3)
    const waiting = log.auditLog.append(draft())
    forge(folder)
    const page = log.auditLog.query(filter)
    const { id, seq } = await waiting
    await page
    await expectNamed(log, folder, 3)
    expect((await log.auditLog.find(id))?.seq).toBe(seq)
    expect(entriesIn(logOf(folder)).map((entry) => entry.seq)).toEqual([0, 1, 2, 3])
  })

  test('is found where the head was taken away as well', async () => {
    const folder = newFolder()
    {
      await using log = await openLog(folder)
      await log.fill(3)
    }
    forge(folder)
    rmSync(join(folder, 'audit', headFile))
    await using log = await openLog(folder)
    const page = await log.auditLog.query(filter)
    expect(page).toMatchObject({ integrity: 'failed', kind: 'anchor_missing', total: 3 })
    expect(setAside(folder)).toContain(forgedId)
  })
})

describe('the index', () => {
  const expectSound = async (log: OpenedLog): Promise<void> => {
    const { entries, total, integrity } = await log.auditLog.query({ ...filter, agent: 'mailbot' })
    expect({ total, integrity }).toEqual({ total: 5, integrity: 'verified' })
    expect(entries.map(({ seq }) => seq)).toEqual([4, 3, 2, 1, 0])
  }

  test('that was changed, put back or taken away hides no entry and shows no other', async () => {
    const folder = newFolder()
    const index = join(logOf(folder), indexFolder)
    const fill = async () => {
      await using log = await openLog(folder)
      await log.fill(1)
    }
    await fill()
    await fill()
    const before = newFolder()
    cpSync(index, before, { recursive: true })
    for (let i = 0; i < 3; i += 1) await fill()
    const [name = ''] = readdirSync(index)
    const tampering = [
      () => cpSync(before, index, { recursive: true }),
      () => rmSync(index, { recursive: true }),
      () => writeFileSync(join(index, name), readFileSync(join(index, name)).fill(1, 60, 61)),
      () => writeFileSync(join(index, 'shadow-0000000000000000.columns'), 'of nobody'),
      () => writeFileSync(join(index, name), ''),
    ]
    for (const tamper of tampering) {
      tamper()
      await using log = await openLog(folder)
      await expectSound(log)
    }
  })

  test('is made anew when somebody asks, which is an entry', async () => {
    const folder = newFolder()
    await using log = await openLog(folder)
    await log.fill(5)
    const by = { actor: 'user:ana', request_id: 'req-9' }
    expect(await log.auditLog.reindex(by)).toMatchObject({
      integrity: 'verified',
      verified_through: 5,
    })
    const { entries, total } = await log.auditLog.query(filter)
    expect(total).toBe(6)
    expect(entries[0]).toMatchObject({ capability: 'audit.reindexed', actor: 'user:ana' })
    await expectSound(log)
  })
})

describe('a crash', () => {
  test('between the commit of a change and its entry loses neither, and looks like no tampering', async () => {
    const running = newFolder()
    await using before = await openLog(running)
    await before.fill(2)
    const log = mkdtempSync(join(tmpdir(), 'gatehouse-before-'))
    onTestFinished(() => rmSync(log, { recursive: true, force: true }))
    cpSync(logOf(running), log, { recursive: true })
    await before.act()
    const folder = killed(running)
    rmSync(logOf(folder), { recursive: true })
    cpSync(log, logOf(folder), { recursive: true })
    await using after = await openLog(folder)
    expect(await after.auditLog.query(filter)).toMatchObject({ integrity: 'verified', total: 3 })
    expect(await after.storage.meta.get('policy')).toBe('v2')
    expect(await after.auditLog.verify()).toMatchObject({ integrity: 'verified' })
  })

  test('between an entry and its head loses nothing', async () => {
    const running = newFolder()
    await using before = await openLog(running)
    await before.fill(2)
    const head = readFileSync(join(logOf(running), headFile))
    await before.fill(2)
    const folder = killed(running)
    writeFileSync(join(logOf(folder), headFile), head)
    await using log = await openLog(folder)
    expect(await log.auditLog.query(filter)).toMatchObject({ integrity: 'verified', total: 4 })
  })

  test('in the middle of a write leaves out what nobody was answered for', async () => {
    const running = newFolder()
    await using before = await openLog(running)
    await before.fill(2)
    const head = readFileSync(join(logOf(running), headFile))
    await before.fill(1)
    const folder = killed(running)
    writeFileSync(join(logOf(folder), headFile), head)
    const last = frameAt(logOf(folder), 2)
    const fd = openSync(last.file, 'r+')
    writeSync(fd, Buffer.alloc(last.bytes - 50), 0, last.bytes - 50, last.at + 50)
    closeSync(fd)
    await using log = await openLog(folder)
    expect(await log.auditLog.query(filter)).toMatchObject({ integrity: 'verified', total: 2 })
    expect((await log.auditLog.append(draft())).seq).toBe(2)
  })

  test('before the store had what followed from the last entries loses no use of a limit and no invocation', async () => {
    const running = newFolder()
    await using before = await openLog(running)
    await before.storage.agents.insert(agentOf('mailbot'))
    const stamp = { key: 'k', at_ms: Date.now(), window_ms: 3_600_000 }
    await before.auditLog.append(draft(), { stamps: [stamp], counts: true })
    const folder = killed(running)
    await using log = await openLog(folder)
    const key = { key: 'k', limit: 9, window_ms: 3_600_000 }
    expect(await log.storage.limits.used(key, Date.now())).toBe(1)
    expect((await log.storage.agents.find('mailbot'))?.total_invocations).toBe(1)
  })

  test('that took the end of the log with it is told from a sound end', async () => {
    const folder = newFolder()
    {
      await using log = await openLog(folder)
      await log.fill(5)
    }
    writeEntries(logOf(folder), entriesIn(logOf(folder)).slice(0, 3))
    await using log = await openLog(folder)
    const page = await log.auditLog.query(filter)
    expect(page).toMatchObject({ integrity: 'failed', kind: 'truncated', first_bad_seq: 3 })
    expect((await log.auditLog.append(draft())).seq).toBe(5)
  })
})
