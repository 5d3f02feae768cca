import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { type Bench, openBench } from '../../test/kit/log-bench.ts'
import { createLinker, emptyLog, genesis, type LogState } from '../domain/audit/chain.ts'
import { createTree } from '../domain/audit/merkle.ts'
import type { ExportPart } from '../ports/audit-export.ts'
import { checkpointsFile } from './checkpoints.ts'
import { cursorsFolder } from './export-cursors.ts'
import { exportPart } from './export-part.ts'
import type { LoggedEntry } from './frame.ts'
import { hashing } from './hashing.ts'
import { loadKeys, publicKeyFile } from './keys.ts'
import { signCheckpoint, verifierKey } from './note.ts'
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

const origin = 'gatehouse/audit/main'

/** Log in memory, with its state after each entry, and a checkpoint over so many of them. */
const longLog = (count: number) => {
  const keys = loadKeys(newFolder())
  const [linker, tree] = [createLinker(hashing), createTree(hashing)]
  let head = genesis
  const states: LogState[] = [emptyLog]
  const roots = [tree.root()]
  const entries = Array.from({ length: count }, (_, seq): LoggedEntry => {
    const body = JSON.stringify({ id: `aud-${seq}`, seq })
    head = linker.link(head, seq, body)
    tree.push(linker.leaf())
    states.push({ size: seq + 1, head, peaks: tree.peaks() })
    roots.push(tree.root())
    return { seq, hash: head, seal: '', body }
  })
  const groups: LoggedEntry[][] = []
  for (let at = 0; at < count; at += 7) groups.push(entries.slice(at, at + 7))
  const checkpoint = (size: number) =>
    signCheckpoint({ origin, size, root: roots[size] ?? '' }, keys)
  const partOf = (sizes: readonly number[], from: LogState) =>
    exportPart(
      {
        files: {
          // Whole groups, as a reader of the files may give them.
          *entries(first) {
            yield* groups.filter((group) => (group.at(-1)?.seq ?? 0) >= first)
          },
        },
        ...{ chain: 'main', origin, publicKey: keys.raw, createdAt: '2026-01-01T00:00:00.000Z' },
        checkpoints: sizes.map(checkpoint),
      },
      from,
    )
  const stateAt = (size: number) => states[size] ?? expect.fail(`there are no ${size} entries`)
  return { entries, groups, keys, partOf, stateAt, checkpoint }
}

test('a part has the entries from one checkpoint to another, and says where it begins and ends', () => {
  const { entries, keys, partOf, stateAt, checkpoint } = longLog(20)
  const [from, to] = [stateAt(5), stateAt(18)]
  const part = partOf([5, 18], from)
  expect(part).toEqual({
    ...{ chain: 'main', from, to, checkpoint: checkpoint(18).note },
    entries: entries
      .slice(5, 18)
      .map(({ seq, hash, body }) =>
        JSON.stringify({ seq, chain: 'main', id: `aud-${seq}`, hash: `sha256:${hash}`, body }),
      ),
    header: expect.any(String) as string,
  })
  expect(JSON.parse(part?.header ?? '')).toEqual({
    ...{ format: 'gatehouse-audit-export-v1', created_at: '2026-01-01T00:00:00.000Z' },
    ...{ public_key: keys.raw.toString('base64'), verifier_key: verifierKey(origin, keys.raw) },
    ...{ chain: 'main', origin, begin: from },
    chains: [{ chain: 'main', size: 18, head: `sha256:${to.head}` }],
  })
})

test('a part ends at the last checkpoint within 5,000 entries, or at the next one where that is further', () => {
  const { partOf, stateAt } = longLog(6_000)
  const ends = (sizes: readonly number[], from: number) => partOf(sizes, stateAt(from))?.to.size
  expect(ends([2_000, 5_000, 5_001, 6_000], 0)).toBe(5_000)
  expect(ends([2_000, 5_000, 5_001, 6_000], 1)).toBe(5_001)
  expect(ends([2_000, 5_000, 5_001, 6_000], 5_001)).toBe(6_000)
  expect(ends([5_500, 6_000], 0)).toBe(5_500)
  expect(ends([5_500, 6_000], 6_000)).toBeUndefined()
  expect(partOf([], emptyLog)).toBeNull()
})

test('a log that is not as its checkpoint says makes no part', () => {
  const { entries, groups, partOf } = longLog(20)
  const refusal = expect.objectContaining({
    type: 'AuditDamaged',
    message: expect.stringMatching(
      /seq 0.*entries up to 18 are not those that its checkpoint is over/,
    ) as string,
  }) as Error
  const [first] = groups as [LoggedEntry[]]
  first[3] = { ...(entries[3] as LoggedEntry), body: '{}' }
  expect(() => partOf([18], emptyLog)).toThrow(refusal)
  first[3] = entries[3] as LoggedEntry
  expect(partOf([18], emptyLog)?.to.size).toBe(18)
  groups.pop()
  expect(() => partOf([18], emptyLog)).toThrow(refusal)
})
