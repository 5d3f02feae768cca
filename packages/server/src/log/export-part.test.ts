import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { type Bench, openBench } from '../../test/kit/log-bench.ts'
import { emptyLog } from '../domain/audit/chain.ts'
import type { ExportPart } from '../ports/audit-export.ts'
import { checkpointsFile } from './checkpoints.ts'
import { cursorsFolder } from './export-cursors.ts'
import { publicKeyFile } from './keys.ts'
import { verifyOffline } from './offline.ts'

const script = fileURLToPath(new URL('../../../../scripts/verify_audit.py', import.meta.url))
const python = spawnSync('python3', ['--version']).status === 0

const newFolder = (): string => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-parts-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  return folder
}

const textOf = ({ header, entries, checkpoint }: ExportPart): string =>
  `${[header, ...entries, JSON.stringify({ checkpoint })].join('\n')}\n`

/** Takes what there is, part by part, into a folder; where it ends. */
const carry = (bench: Bench, folder: string, from = emptyLog) => {
  let state = from
  for (;;) {
    const part = bench.log.exportSource.partFrom(state)
    if (!part) return state
    const name = `main-${String(part.from.size).padStart(16, '0')}.jsonl`
    fs.writeFileSync(path.join(folder, name), textOf(part))
    state = part.to
  }
}

const threeParts = async (bench: Bench): Promise<{ folder: string; names: string[] }> => {
  const folder = newFolder()
  let state = emptyLog
  for (const count of [300, 200, 450]) {
    await bench.fill(count)
    // An export signs where the log is.
    for await (const _ of bench.log.export()) break
    state = carry(bench, folder, state)
  }
  expect(state.size).toBe(950)
  return { folder, names: fs.readdirSync(folder).sort() }
}

test('parts verify each by itself and as a row, and nothing may be missing between them', async () => {
  await using bench = await openBench()
  const { folder, names } = await threeParts(bench)
  expect(names).toHaveLength(3)
  const options = {
    exportFile: folder,
    publicKeyFile: path.join(bench.directory, publicKeyFile),
    checkpointFile: path.join(bench.directory, checkpointsFile),
  }
  expect(await verifyOffline(options)).toMatchObject({
    integrity: 'verified',
    entries: 950,
    verified_through: 949,
  })
  const second = path.join(folder, names[1] ?? '')
  expect(await verifyOffline({ exportFile: second })).toMatchObject({
    integrity: 'verified',
    entries: 200,
  })
  if (python) {
    const { stdout } = spawnSync('python3', [script, second], { encoding: 'utf8' })
    expect(JSON.parse(stdout)).toMatchObject({ integrity: 'verified', entries: 200 })
  }
  const text = fs.readFileSync(second, 'utf8')
  fs.rmSync(second)
  expect(await verifyOffline(options)).toMatchObject({
    integrity: 'failed',
    kind: 'missing',
    first_bad_seq: 300,
  })
  fs.writeFileSync(second, text.replace('filesystem.read', 'filesystem.copy'))
  expect(await verifyOffline(options)).toMatchObject({ integrity: 'failed', kind: 'modified' })
  // A part whose beginning was taken away, with a beginning that would fit what is left.
  const [header = '', ...lines] = text.split('\n')
  const cut = {
    ...JSON.parse(header),
    begin: { size: 301, head: '0'.repeat(64), peaks: Array(5).fill('0'.repeat(64)) },
  }
  fs.writeFileSync(second, [JSON.stringify(cut), ...lines.slice(1)].join('\n'))
  expect(await verifyOffline({ ...options, exportFile: second })).toMatchObject({
    integrity: 'failed',
  })
})

test('a part ends at a checkpoint, and an altered log makes none', async () => {
  await using bench = await openBench()
  await bench.fill(100)
  expect(bench.log.exportSource.partFrom(emptyLog)).toBeNull()
  for await (const _ of bench.log.export()) break
  expect(bench.log.exportSource.partFrom(emptyLog)?.to.size).toBe(100)
  bench.tamper((entries) => {
    const entry = entries[40]
    if (entry) entry.body = entry.body.replace('filesystem.read', 'filesystem.copy')
  })
  await bench.log.verify()
  expect(() => bench.log.exportSource.partFrom(emptyLog)).toThrow(
    'of the audit log is not what was written',
  )
  await bench.log.acknowledge('a test')
  await bench.fill(10)
  for await (const _ of bench.log.export()) break
  const part = bench.log.exportSource.partFrom(emptyLog)
  expect(part?.from.size).toBe(100)
})

test('a cursor that somebody moved on counts as none', async () => {
  await using bench = await openBench()
  const { exportSource: source } = bench.log
  expect(source.readCursor('archive')).toBeNull()
  source.writeCursor('archive', { ...emptyLog, size: 4, peaks: ['a'.repeat(64)] })
  expect(source.readCursor('archive')?.size).toBe(4)
  const file = path.join(bench.directory, cursorsFolder, 'archive.json')
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('"size":4', '"size":8'))
  expect(source.readCursor('archive')).toBeNull()
  fs.copyFileSync(file, path.join(bench.directory, cursorsFolder, 'other.json'))
  expect(source.readCursor('other')).toBeNull()
})

test('a witness that has more than the log, or something else, raises an alarm', async () => {
  await using bench = await openBench()
  await bench.fill(50)
  await bench.close()
  const kept = newFolder()
  fs.cpSync(bench.directory, kept, { recursive: true })
  await bench.reopen()
  await bench.fill(50)
  await bench.close()
  const notes = fs.readFileSync(path.join(bench.directory, checkpointsFile), 'utf8')
  await bench.reopen()
  bench.log.exportSource.compare(notes, 'the witness')
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
  await bench.close()
  fs.rmSync(bench.directory, { recursive: true })
  fs.cpSync(kept, bench.directory, { recursive: true })
  await bench.reopen()
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
  bench.log.exportSource.compare(notes, 'the witness')
  expect(await bench.log.verify()).toMatchObject({
    integrity: 'failed',
    kind: 'truncated',
    first_bad_seq: 50,
    detail: expect.stringContaining('the witness has a checkpoint over 100 entries'),
  })
})
