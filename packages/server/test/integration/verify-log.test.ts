import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { startPostgres } from '@gatehouse/testkit'
import pg from 'pg'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { emptyLog } from '../../src/domain/audit/chain.ts'
import { openAuditLog } from '../../src/log/audit-log.ts'
import { inlineEntriesMax } from '../../src/log/inspector.ts'
import { LogReader } from '../../src/log/log-files.ts'
import { draft, frameAt, HandClock, silent } from '../../src/log/testing.ts'
import { VerifierThread } from '../../src/log/verifier-thread.ts'
import { createIds } from '../../src/platform/ids.ts'
import type { Storage } from '../../src/ports/storage.ts'
import { openPostgres } from '../../src/storage/postgres/open.ts'
import { openSqlite } from '../../src/storage/sqlite/open.ts'
import type { LogPlace } from '../../src/verify-log.ts'

const server = await startPostgres()
const url = 'url' in server ? server.url : ''
afterAll(async () => {
  if ('stop' in server) await server.stop()
})

const entries = inlineEntriesMax * 3
const filter = { limit: 5, offset: 0 }
const program = new URL('../../dist/verify-log.js', import.meta.url)

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-verify-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const chain = 'node-1'

/** A log that verifies on another thread, and what was read of it on this one meanwhile. */
const openLog = async (storage: Storage, folder: string, copies: string | null, by = program) => {
  const clock = new HandClock()
  const directory = join(folder, 'audit')
  const place: LogPlace = { directory, chain, url: copies, dataDir: folder, helpers: null }
  const verifier = new VerifierThread({ program: by, place, clock })
  const asked = { entries: 0 }
  const { frames } = LogReader.prototype
  const spy = vi.spyOn(LogReader.prototype, 'frames').mockImplementation(function* (
    this: LogReader,
    ...given
  ) {
    for (const frame of frames.apply(this, given)) {
      asked.entries += frame.entries.length
      yield frame
    }
  })
  onTestFinished(() => spy.mockRestore())
  const auditLog = await openAuditLog({
    storage,
    directory,
    chain,
    ids: createIds(),
    clock,
    log: silent,
    verifier,
    sharedKey: () => 'one key',
    verifyEveryMs: 0,
  })
  let isOpen = true
  const close = async () => {
    if (!isOpen) return
    isOpen = false
    await auditLog[Symbol.asyncDispose]()
    await verifier[Symbol.asyncDispose]()
    await storage[Symbol.asyncDispose]()
  }
  return {
    auditLog,
    verifier,
    clock,
    asked,
    close,
    async fill(count = entries) {
      await Promise.all(Array.from({ length: count }, () => auditLog.append(draft())))
    },
    [Symbol.asyncDispose]: close,
  }
}

test('helpers on threads of their own verify a log of several segments as one thread does', async () => {
  const folder = newFolder()
  const log = await openLog(await openSqlite({ file: join(folder, 'gatehouse.db') }), folder, null)
  onTestFinished(() => log.close())
  await log.fill(3_000)
  const directory = join(folder, 'audit')
  expect(readdirSync(join(directory, 'segments')).length).toBeGreaterThan(3)
  const helpers = { threads: 2, entriesMin: 1_000 }
  const place: LogPlace = { directory, chain, url: null, dataDir: folder, helpers }
  await using verifier = new VerifierThread({ program, place, clock: log.clock })
  const from = emptyLog
  const question = { chain, from, tree: true, anchors: [], through: 3_000 }
  const verify = () => verifier.verify(question, new AbortController().signal)
  const sound = await verify()
  expect(sound).toMatchObject({ fault: null, state: { size: 3_000 } })
  const { file, at } = frameAt(directory, 1_500)
  const bytes = readFileSync(file)
  chmodSync(file, 0o600)
  writeFileSync(file, Buffer.concat([bytes.subarray(0, at), Buffer.from('x'), bytes.subarray(at)]))
  expect((await verify()).fault).toMatchObject({ kind: 'modified' })
})

/** Looks in each turn of the event loop: an answer takes several, and a poll by time may miss it. */
const untilBusy = async (verifier: VerifierThread): Promise<void> => {
  while (!verifier.isBusy) await nextTurn()
}

type Engine = {
  readonly name: string
  readonly missing: boolean
  open(folder: string): ReturnType<typeof openLog>
  /** Changes an entry as somebody does who can write the database. */
  tamper(folder: string, seq: number): Promise<void>
}

const engines: readonly Engine[] = [
  {
    name: 'SQLite',
    missing: false,
    async open(folder) {
      const file = join(folder, 'gatehouse.db')
      return openLog(await openSqlite({ file }), folder, null)
    },
    async tamper(folder, seq) {
      const { file, at, bytes } = frameAt(join(folder, 'audit'), seq)
      const content = readFileSync(file)
      const own = content.indexOf(`"seq":${seq},`, at)
      const name = content.lastIndexOf('mailbot', own)
      if (name < at || own >= at + bytes) throw new Error('no such entry')
      writeFileSync(file, content.fill('s', name, name + 3))
    },
  },
  {
    name: 'PostgreSQL',
    missing: 'missing' in server,
    async open(folder) {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      const name = `verify_${Math.random().toString(36).slice(2)}`
      await client.query(`create database ${name}`)
      await client.end()
      const own = new URL(url)
      own.pathname = name
      databases.set(folder, own.href)
      return openLog(await openPostgres({ url: own.href }), folder, own.href)
    },
    async tamper(folder, seq) {
      const client = new pg.Client({ connectionString: databases.get(folder) ?? '' })
      await client.connect()
      const text =
        "update audit_copies set body = replace(body, 'mailbot', 'somebot') where seq = $1"
      await client.query(text, [seq])
      await client.end()
    },
  },
]
const databases = new Map<string, string>()

for (const engine of engines) {
  describe.skipIf(engine.missing)(`on ${engine.name}, a long log`, () => {
    test('is verified without being read on the thread that serves calls', async () => {
      await using log = await engine.open(newFolder())
      await log.fill()
      log.asked.entries = 0
      expect(await log.auditLog.verify()).toMatchObject({
        integrity: 'verified',
        verified_through: entries - 1,
      })
      expect(log.asked.entries).toBeLessThan(inlineEntriesMax)
      // Entries that came since are read here.
      await log.fill(5)
      expect(await log.auditLog.query(filter)).toMatchObject({ verified_through: entries + 4 })
    })

    test('shows what was changed in the middle of it, until that was acknowledged', async () => {
      const folder = newFolder()
      await using log = await engine.open(folder)
      await log.fill()
      await log.auditLog.verify()
      await engine.tamper(folder, entries / 2)
      const found = { integrity: 'failed', kind: 'modified', first_bad_seq: entries / 2 }
      expect(await log.auditLog.query(filter)).toMatchObject(found)
      expect(await log.auditLog.acknowledge('we know')).toMatchObject({ integrity: 'verified' })
      // An acknowledgement does not cover later changes.
      await engine.tamper(folder, entries / 4)
      const again = { integrity: 'failed', first_bad_seq: entries / 4 }
      expect(await log.auditLog.query(filter)).toMatchObject(again)
    })
  })
}

test('copies are not compared where their store cannot be reached', async () => {
  await using log = await (engines[0] as Engine).open(newFolder())
  await log.fill()
  const place: LogPlace = {
    directory: newFolder(),
    chain,
    url: 'postgres://127.0.0.1:1/none',
    dataDir: newFolder(),
    helpers: null,
  }
  await using lost = new VerifierThread({ program, place, clock: log.clock })
  const comparing = lost.checkCopies({ chain, through: entries }, new AbortController().signal)
  await expect(comparing).rejects.toThrow('PostgreSQL: nothing listens at the address')
})

test('a long log is not verified where the thread was ended, and health says so until it could be', async () => {
  await using log = await (engines[0] as Engine).open(newFolder())
  await log.fill()
  const verifying = log.auditLog.verify().catch((error: Error) => error.message)
  await untilBusy(log.verifier)
  await log.verifier[Symbol.asyncDispose]()
  expect(await verifying).toContain('ended before it was done')
  expect(log.auditLog.health()).toMatchObject({
    status: 'degraded',
    reason: expect.stringContaining('could not be verified'),
  })
  expect(await log.auditLog.query(filter)).toMatchObject({ integrity: 'verified' })
  expect(log.auditLog.health().status).toBe('healthy')
})

test('a long log is not verified where the thread fails', async () => {
  const folder = newFolder()
  const file = join(folder, 'gatehouse.db')
  const text = `import { parentPort } from 'node:worker_threads'
    parentPort.on('message', () => process.exit(3))`
  const failing = new URL(`data:text/javascript,${encodeURIComponent(text)}`)
  await using log = await openLog(await openSqlite({ file }), folder, null, failing)
  await log.fill()
  const failure = { type: 'StorageUnavailable' }
  await expect(log.auditLog.verify()).rejects.toMatchObject(failure)
  await expect(log.auditLog.query(filter)).rejects.toMatchObject(failure)
  expect(log.auditLog.health().status).toBe('degraded')
})

test('a service that stops does not wait for a verification, and ends the thread with care', async () => {
  await using log = await (engines[0] as Engine).open(newFolder())
  await log.fill()
  await log.auditLog.verify()
  const isBroken = log.auditLog.verify().then(
    () => false,
    () => true,
  )
  await untilBusy(log.verifier)
  await log.close()
  expect(await isBroken).toBe(true)
  expect(log.verifier.threadId).toBeNull()
})

test('the thread ends when nobody asked it for a while, and starts again', async () => {
  await using log = await (engines[0] as Engine).open(newFolder())
  await log.fill()
  expect(await log.auditLog.verify()).toMatchObject({ integrity: 'verified' })
  expect(log.verifier.threadId).not.toBeNull()
  log.clock.move(60_000)
  await expect.poll(() => log.verifier.threadId).toBeNull()
  expect(await log.auditLog.verify()).toMatchObject({ integrity: 'verified' })
})
