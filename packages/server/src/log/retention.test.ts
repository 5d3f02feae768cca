import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Bench, openBench } from '../../test/kit/log-bench.ts'
import { verifyConsistency } from '../domain/audit/proofs.ts'
import { checkProof } from './check-proof.ts'
import { checkpointsFile } from './checkpoints.ts'
import { hashing } from './hashing.ts'
import { publicKeyFile } from './keys.ts'
import { segmentsFolder } from './log-files.ts'
import { verifyOffline } from './offline.ts'
import { removalsFile } from './removals.ts'
import type { RetentionRules } from './retention.ts'
import { draft, everything, textOf } from './testing.ts'

const day = 86_400_000
const python = spawnSync('python3', ['--version']).status === 0
const script = fileURLToPath(new URL('../../../../scripts/verify_audit.py', import.meta.url))
const by = { actor: 'user:ann', request_id: 'req-9' }

type Changing = { -readonly [K in keyof RetentionRules]: RetentionRules[K] }

const open = (change: Partial<RetentionRules> = {}) => {
  const rules: Changing = { maxAgeMs: 30 * day, maxBytes: null, exported: () => [], ...change }
  return { rules, opened: openBench({ retention: rules }) }
}

const segmentsOf = (bench: Bench): string[] =>
  fs
    .readdirSync(path.join(bench.directory, segmentsFolder))
    .filter((name) => name.endsWith('.log'))
    .sort()

/** Entries that fill more than one segment, of 256 KiB at first. */
const fillSegments = async (bench: Bench, count = 900): Promise<void> => {
  for (let i = 0; i < count; i += 30)
    await Promise.all(
      Array.from({ length: 30 }, (_, k) =>
        bench.log.append(draft({ arguments: { path: `${i + k}`, text: 'x'.repeat(700) } })),
      ),
    )
}

/** A log whose first segments are gone, and whose rest is younger. */
const pruned = async (bench: Bench): Promise<number> => {
  await fillSegments(bench)
  bench.clock.move(40 * day)
  await bench.fill(50)
  await bench.log.applyRetention(by)
  const { removed } = bench.log.retention()
  return removed?.entries ?? 0
}

const offline = (bench: Bench, more = {}) => verifyOffline({ directory: bench.directory, ...more })

test('removes segments that are older than the settings say, and what is left verifies', async () => {
  const { opened } = open()
  await using bench = await opened
  await fillSegments(bench)
  const before = segmentsOf(bench)
  await bench.log.applyRetention(by)
  expect(segmentsOf(bench)).toEqual(before)

  bench.clock.move(40 * day)
  await bench.fill(50)
  const status = await bench.log.applyRetention(by)
  const first = status.removed?.entries ?? 0
  expect(first).toBeGreaterThan(200)
  expect(segmentsOf(bench)[0]).toBe(`${String(first).padStart(16, '0')}.log`)

  const page = await bench.log.query({ ...everything, capability: 'audit.retention' })
  expect(page).toMatchObject({ integrity: 'verified', total: 1, removed: { entries: first } })
  expect(page.entries[0]).toMatchObject({
    id: status.removed?.entry,
    actor: 'system',
    detail: { from: 0, entries: first, reason: 'age', head: status.removed?.head, exported_to: [] },
  })
  // Nothing of what is gone is counted or found, and everything else is.
  expect((await bench.log.query({ ...everything })).total).toBe(951 - first)
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified', verified_through: 950 })
  expect(await offline(bench)).toMatchObject({ integrity: 'verified', removed: { entries: first } })

  await bench.reopen()
  expect(await bench.log.verify()).toMatchObject({
    integrity: 'verified',
    verified_through: 950,
    removed: { entries: first },
  })
  expect((await bench.log.query({ ...everything })).total).toBe(951 - first)
  await bench.fill(10)
  await bench.log.reindex(by)
  expect((await bench.log.query({ ...everything })).total).toBe(951 - first + 11)
})

test('removes the oldest segments of a log that is larger than the settings say, again and again', async () => {
  const { opened } = open({ maxAgeMs: null, maxBytes: 400_000 })
  await using bench = await opened
  let removed = 0
  for (let round = 0; round < 3; round += 1) {
    await fillSegments(bench, 1_500)
    const status = await bench.log.applyRetention(by)
    expect(status.removed?.entries).toBeGreaterThan(removed)
    expect(status).toMatchObject({ removed: { reason: 'size' } })
    removed = status.removed?.entries ?? 0
    const entry = await bench.log.find(status.removed?.entry ?? '')
    expect(entry).toMatchObject({ actor: 'user:ann', detail: { entries: removed } })
    expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
  }
  const lines = fs.readFileSync(path.join(bench.directory, removalsFile), 'utf8')
  expect(lines.trim().split('\n')).toHaveLength(3)
  await bench.reopen()
  expect(await offline(bench)).toMatchObject({
    integrity: 'verified',
    removed: { entries: removed },
  })
})

test('proofs and exports begin where the log does', async () => {
  const { opened } = open()
  await using bench = await opened
  const first = await pruned(bench)
  const { entries } = await bench.log.query({ ...everything, limit: 1_000 })
  for (const entry of [entries.at(-1), entries.at(-2), entries[0]]) {
    const file = path.join(bench.directory, 'proof.json')
    fs.writeFileSync(file, JSON.stringify(await bench.log.prove(entry?.id ?? '')))
    expect(checkProof(file, path.join(bench.directory, publicKeyFile))).toMatchObject({
      valid: true,
      seq: entry?.seq,
    })
  }
  const grown = await bench.log.proveConsistency(first + 7)
  expect(
    verifyConsistency(hashing, {
      ...grown,
      firstRoot: grown.first_root,
      secondRoot: grown.second_root,
    }),
  ).toBe(true)
  await expect(bench.log.proveConsistency(first - 1)).rejects.toMatchObject({ type: 'NotFound' })

  const exportFile = path.join(bench.directory, 'export.jsonl')
  const text = await textOf(bench.log.export())
  fs.writeFileSync(exportFile, text)
  const checkpointFile = path.join(bench.directory, checkpointsFile)
  expect(await verifyOffline({ exportFile, checkpointFile })).toMatchObject({
    integrity: 'verified',
    entries: 951 - first,
    removed: { entries: first },
  })
  if (python) {
    const { stdout } = spawnSync('python3', [script, exportFile], { encoding: 'utf8' })
    expect(JSON.parse(stdout)).toMatchObject({
      integrity: 'verified',
      entries: 951 - first,
      removed: { entries: first },
    })
  }
  // Without its record, or with one that somebody else made, it is an export whose beginning was taken away.
  const [header = '', ...rest] = text.split('\n')
  const { removal, ...without } = JSON.parse(header) as { removal: Record<string, string> }
  const forged = { ...removal, record: removal['record']?.replace('"size":', '"size":1') }
  for (const changed of [without, { ...without, removal: forged }]) {
    fs.writeFileSync(exportFile, [JSON.stringify(changed), ...rest].join('\n'))
    const found = await verifyOffline({ exportFile })
    expect(found).toMatchObject({ integrity: 'failed', kind: 'missing' })
    if (!python) continue
    const { stdout } = spawnSync('python3', [script, exportFile], { encoding: 'utf8' })
    expect(JSON.parse(stdout)).toMatchObject({ integrity: 'failed', kind: 'missing' })
  }
})

test('finds segments that somebody else removed, before and after retention did', async () => {
  const { opened } = open()
  await using bench = await opened
  await fillSegments(bench)
  const oldest = path.join(bench.directory, segmentsFolder, segmentsOf(bench)[0] ?? '')
  const kept = fs.readFileSync(oldest)
  fs.rmSync(oldest)
  expect(await bench.log.query(everything)).toMatchObject({
    integrity: 'failed',
    kind: 'missing',
    first_bad_seq: 0,
  })
  fs.writeFileSync(oldest, kept, { mode: 0o400 })
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })

  bench.clock.move(40 * day)
  await bench.fill(50)
  await bench.log.applyRetention(by)
  const first = bench.log.retention().removed?.entries
  await fillSegments(bench)
  fs.rmSync(path.join(bench.directory, segmentsFolder, segmentsOf(bench)[0] ?? ''))
  const found = { integrity: 'failed', kind: 'missing', first_bad_seq: first }
  expect(await bench.log.verify()).toMatchObject(found)
  expect(await offline(bench)).toMatchObject(found)
})

test('finds that the record of a removal is gone, altered or an older one', async () => {
  const { opened } = open()
  await using bench = await opened
  await pruned(bench)
  await bench.close()
  const file = path.join(bench.directory, removalsFile)
  const sound = fs.readFileSync(file, 'utf8')
  const found = { integrity: 'failed', kind: 'missing', first_bad_seq: 0 }
  for (const forged of ['', sound.replace('\\"size\\":', '\\"size\\":1'), sound.slice(0, -9)]) {
    fs.writeFileSync(file, forged)
    expect(await offline(bench)).toMatchObject(found)
  }
  await bench.reopen()
  expect(await bench.log.verify()).toMatchObject(found)
  await bench.close()
  fs.writeFileSync(file, sound)
  expect(await offline(bench)).toMatchObject({ integrity: 'verified' })
})

test('removes nothing that a target lacks, that is under an alarm, or that somebody is exporting', async () => {
  const targets = [{ name: 'archive', next: 0 }]
  const { opened } = open({ exported: () => targets })
  await using bench = await opened
  await fillSegments(bench)
  bench.clock.move(40 * day)
  await bench.fill(50)
  expect(await bench.log.applyRetention(by)).toMatchObject({
    removable_entries: 0,
    held_by: 'archive does not have it yet',
    exported_to: ['archive'],
  })
  targets[0] = { name: 'archive', next: 950 }
  const reading = bench.log.export()[Symbol.asyncIterator]()
  await reading.next()
  expect(await bench.log.applyRetention(by)).toMatchObject({
    removable_entries: 0,
    held_by: 'the log is being exported at the moment',
  })
  await reading.return?.()
  bench.tamper((entries) => {
    Object.assign(entries[3] ?? {}, { body: '{}' })
  })
  expect(await bench.log.query(everything)).toMatchObject({ integrity: 'failed' })
  const segments = segmentsOf(bench)
  await bench.log.applyRetention(by)
  expect(segmentsOf(bench)).toEqual(segments)
  expect(bench.log.retention().removed).toBeUndefined()
})

test('removes acknowledged damage with all that was acknowledged with it, and verifies without it', async () => {
  const { opened } = open()
  await using bench = await opened
  await fillSegments(bench)
  bench.tamper((entries) => {
    Object.assign(entries[3] ?? {}, { body: '{}' })
  })
  expect(await bench.log.verify()).toMatchObject({ integrity: 'failed' })
  bench.clock.move(40 * day)
  await bench.fill(50)
  await bench.log.acknowledge('a disk lost data', by)
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })

  const before = segmentsOf(bench)
  expect(await bench.log.applyRetention(by)).toMatchObject({
    removable_entries: 0,
    held_by: expect.stringContaining('were acknowledged as damaged, and go together'),
  })
  expect(segmentsOf(bench)).toEqual(before)

  await fillSegments(bench, 2700)
  bench.clock.move(40 * day)
  await bench.fill(50)
  await bench.log.applyRetention(by)
  const { held_by: held, removed } = bench.log.retention()
  expect([held, removed?.entries]).toEqual([null, expect.any(Number)])
  expect(removed?.entries).toBeGreaterThanOrEqual(950)
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
  await bench.reopen()
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
  await bench.close()
  expect(await offline(bench)).toMatchObject({ integrity: 'verified' })
})

test('ends a removal that a crash cut off', async () => {
  const { opened } = open()
  await using bench = await opened
  await fillSegments(bench)
  await bench.close()
  const folder = path.join(bench.directory, segmentsFolder)
  const kept = new Map(
    segmentsOf(bench).map((name) => [name, fs.readFileSync(path.join(folder, name))]),
  )
  await bench.reopen()
  bench.clock.move(40 * day)
  await bench.fill(50)
  await bench.log.applyRetention(by)
  await bench.close()
  const left = segmentsOf(bench)
  for (const [name, bytes] of kept)
    if (!left.includes(name)) fs.writeFileSync(path.join(folder, name), bytes, { mode: 0o400 })
  expect(segmentsOf(bench).length).toBeGreaterThan(left.length)
  await bench.reopen()
  expect(segmentsOf(bench)).toEqual(left)
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
})
