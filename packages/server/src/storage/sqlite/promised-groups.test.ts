import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { AuditRow, CommitGroup } from '../../ports/audit-rows.ts'
import type { Storage } from '../../ports/storage.ts'
import { FifoMutex } from '../mutex.ts'
import { SqliteConnection } from './adapter.ts'
import { openSqlite } from './open.ts'
import { PromisedGroups } from './promised-groups.ts'

const fileOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-promised-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'gatehouse.db')
}

const row = (seq: number, change: Partial<AuditRow> = {}): AuditRow => {
  const columns = {
    chain: 'main',
    seq,
    id: `aud-${seq}`,
    timestamp: '2026-01-01T00:00:00.000Z',
    kind: 'call',
    agent: 'a',
    capability: 'filesystem.read',
    result: 'success',
    policy_decision: 'autonomous',
    session_id: null,
    duration_ms: 1,
    intent_id: null,
    approval_id: null,
    ...change,
  }
  return { ...columns, hash: 'f'.repeat(64), body: JSON.stringify(columns) }
}

const groupOf = (...seqs: number[]): CommitGroup => ({
  rows: seqs.map((seq) => row(seq)),
  stamps: seqs.map((at_ms) => ({ key: 'a', at_ms, window_ms: 1_000_000 })),
  agentCounts: new Map(),
  sessionCounts: new Map(),
  clockMs: seqs.at(-1) ?? 0,
})

/** Promises groups as the log does, and remembers what it was given to keep. */
const promise = (storage: Storage, ...groups: CommitGroup[]): string[] => {
  const kept: string[] = []
  for (const group of groups)
    expect(
      storage.promises?.add(group, (record) => kept.push(Buffer.from(record).toString()) > 0),
    ).toBe(true)
  return kept
}

const seqs = async (storage: Storage): Promise<number[]> =>
  (await storage.auditRows.range('main', 0, 1_000_000, 1_000_000)).map(({ seq }) => seq)

const limitUsed = (storage: Storage) =>
  storage.limits.used({ key: 'a', limit: 100, window_ms: 1_000_000 }, 10)

test('a promised group is in every read that begins afterwards', async () => {
  await using storage = await openSqlite({ file: fileOf() })
  promise(storage, groupOf(0, 1), groupOf(2))
  expect(await seqs(storage)).toEqual([0, 1, 2])
  promise(storage, groupOf(3))
  expect(await storage.auditRows.head('main')).toEqual(row(3))
  expect(await storage.clock.read()).toBe(3)
})

test('whoever reads what no group changes does not make it stored', async () => {
  const file = fileOf()
  await using storage = await openSqlite({ file })
  using other = new SqliteConnection(file, { readOnly: true })
  const stored = () => other.value('select count(*) from audit')
  promise(storage, groupOf(0))
  await storage.jobs.nextDue(['none'])
  await storage.services.list()
  expect(stored()).toBe(0)
  await storage.sessions.countOpen()
  expect(stored()).toBe(1)
  promise(storage, groupOf(1))
  await storage.agents.list()
  expect(stored()).toBe(2)
})

test('many rows are stored at once, and fewer while somebody reads them', async () => {
  const stored: number[] = []
  const groups = new PromisedGroups(new FifoMutex(), async ({ places }) => {
    stored.push(places.length)
  })
  const add = async (count: number) => {
    for (let i = 0; i < count; i += 1) groups.add(groupOf(i), () => true)
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
  await add(512)
  expect(stored).toEqual([])
  await groups.settle()
  expect(stored).toEqual([512])
  await add(512)
  expect(stored).toEqual([512, 512])
})

test.runIf(process.platform === 'linux')('the thread that stores gives way to others', async () => {
  const niceOf = (task: string): number => {
    const stat = readFileSync(`/proc/self/task/${task}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
  }
  const own = String(process.pid)
  const nice = niceOf(own)
  const before = new Set(readdirSync('/proc/self/task'))
  await using storage = await openSqlite({ file: fileOf() })
  promise(storage, groupOf(0))
  await storage.promises?.settle()
  // Asked again where a thread of something else ends while it is looked at.
  const added = () => readdirSync('/proc/self/task').filter((task) => !before.has(task))
  await expect.poll(() => added().map(niceOf)).toContain(Math.min(19, nice + 10))
  expect(niceOf(own)).toBe(nice)
})

test('what agents may call themselves and others comes back as it was', async () => {
  await using storage = await openSqlite({ file: fileOf() })
  const odd = row(0, {
    capability: 'back\\slash \0 \ud800 é',
    agent: '\u2028',
    session_id: 'sess-1',
  })
  const plain = row(1, { policy_decision: 'none', duration_ms: null, intent_id: 'aud-0' })
  promise(storage, { ...groupOf(), rows: [odd, plain] })
  expect(await storage.auditRows.range('main', 0, 9, 9)).toEqual([odd, plain])
})

test('a transaction that begins after a promise finds it stored', async () => {
  await using storage = await openSqlite({ file: fileOf() })
  promise(storage, groupOf(0))
  const head = await storage.transaction((tx) => tx.auditRows.head('main'))
  expect(head?.seq).toBe(0)
})

test('a read inside a transaction does not wait for what was promised meanwhile', async () => {
  await using storage = await openSqlite({ file: fileOf() })
  await storage.transaction(async () => {
    promise(storage, groupOf(0))
    await storage.clock.read()
  })
  expect(await seqs(storage)).toEqual([0])
})

test('nor for a settling that itself waits for the transaction to end', async () => {
  await using storage = await openSqlite({ file: fileOf() })
  let queued: Promise<void> | undefined
  await storage.transaction(async () => {
    promise(storage, groupOf(0))
    queued = storage.promises?.settle()
    await storage.clock.read()
  })
  await queued
  expect(await seqs(storage)).toEqual([0])
})

test('what the thread beside is writing is not taken for a stranger’s', async () => {
  await using storage = await openSqlite({ file: fileOf() })
  await storage.foreignChange()
  for (let seq = 0; seq < 20; seq += 1) {
    promise(storage, groupOf(seq))
    const settled = storage.promises?.settle()
    const looks = []
    for (let turn = 0; turn < 5; turn += 1) {
      looks.push(storage.foreignChange())
      await new Promise<void>((resolve) => void setImmediate(resolve))
    }
    expect([seq, ...(await Promise.all(looks))]).toEqual([seq, ...looks.map(() => false)])
    await settled
  }
})

test('readers and transactions get their turn while promises come without a pause', async () => {
  await using storage = await openSqlite({ file: fileOf() })
  let seq = 0
  let stop = false
  const load = (async () => {
    for (; !stop; await new Promise<void>((resolve) => void setImmediate(resolve))) {
      const group = groupOf(seq)
      // As the log does where there is no room for a moment.
      if (!storage.promises?.add(group, () => true)) await storage.commitGroup(group)
      seq += 1
    }
  })()
  for (let i = 0; i < 5; i += 1) {
    const before = seq
    expect((await storage.auditRows.head('main'))?.seq ?? -1).toBeGreaterThanOrEqual(before - 1)
    await storage.transaction((tx) => tx.meta.set('k', String(i)))
  }
  stop = true
  await load
  expect(await storage.meta.get('k')).toBe('4')
  expect(await seqs(storage)).toHaveLength(seq)
})

test('what a killed process promised is there when the store is opened with it, once', async () => {
  const file = fileOf()
  const killed = await openSqlite({ file })
  const kept = promise(killed, groupOf(0), groupOf(1, 2))
  await killed.promises?.settle()
  kept.push(...promise(killed, groupOf(3, 4), groupOf(5)))
  // Nothing of the second half reached the file: a copy of it is what a kill leaves.
  const copy = fileOf()
  using other = new SqliteConnection(file, { readOnly: true })
  other.run('vacuum into ?', [copy])
  await killed[Symbol.asyncDispose]()

  const again = await openSqlite({ file: copy, promised: kept.toReversed() })
  expect(await seqs(again)).toEqual([0, 1, 2, 3, 4, 5])
  expect(await limitUsed(again)).toBe(6)
  await again[Symbol.asyncDispose]()
  await using third = await openSqlite({ file: copy, promised: kept })
  expect(await seqs(third)).toEqual([0, 1, 2, 3, 4, 5])
  expect(await limitUsed(third)).toBe(6)
})

test('a record that does not follow what is stored is left to the mark', async () => {
  const kept: string[] = []
  {
    await using storage = await openSqlite({ file: fileOf() })
    kept.push(...promise(storage, groupOf(0), groupOf(1), groupOf(2)))
  }
  await using holed = await openSqlite({ file: fileOf(), promised: [kept[0], kept[2]] as string[] })
  expect(await seqs(holed)).toEqual([0])
})

test('nothing is promised where it cannot be kept', async () => {
  await using storage = await openSqlite({ file: fileOf() })
  expect(storage.promises?.add(groupOf(0), () => false)).toBe(false)
  const full = new Error('the disk is full')
  expect(() =>
    storage.promises?.add(groupOf(0), () => {
      throw full
    }),
  ).toThrow(full)
  expect(await seqs(storage)).toEqual([])
})

test('once the store refuses what was promised, nothing more is promised until it takes it', async () => {
  const file = fileOf()
  await using storage = await openSqlite({ file })
  using other = new SqliteConnection(file, { readOnly: false })
  other.exec("create trigger deaf before insert on audit begin select raise(abort, 'no'); end")
  promise(storage, groupOf(0))
  await expect(seqs(storage)).rejects.toMatchObject({
    message: expect.stringContaining('no') as string,
  })
  expect(() => promise(storage, groupOf(1))).toThrow('no')
  other.exec('drop trigger deaf')
  expect(await seqs(storage)).toEqual([0])
  promise(storage, groupOf(1))
  expect(await seqs(storage)).toEqual([0, 1])
})

test('halves take turns, and a fresh one is told so', async () => {
  await using storage = await openSqlite({ file: fileOf() })
  const places: object[] = []
  const add = (seq: number) =>
    storage.promises?.add(groupOf(seq), (_, place) => places.push(place) > 0)
  add(0)
  add(1)
  await storage.promises?.settle()
  add(2)
  expect(places).toEqual([
    { half: 0, fresh: true },
    { half: 0, fresh: false },
    { half: 1, fresh: true },
  ])
})

test('a commit by somebody else is noticed also where only the thread beside writes', async () => {
  const file = fileOf()
  await using storage = await openSqlite({ file })
  promise(storage, groupOf(0))
  await storage.promises?.settle()
  expect(await storage.foreignChange()).toBe(false)
  promise(storage, groupOf(1))
  await storage.promises?.settle()
  expect(await storage.foreignChange()).toBe(false)
  using other = new SqliteConnection(file, { readOnly: false })
  other.exec("insert into meta (key, value) values ('stranger', 'here')")
  promise(storage, groupOf(2))
  await storage.promises?.settle()
  expect(await storage.foreignChange()).toBe(true)
})
