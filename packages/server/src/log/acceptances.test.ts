import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { by, forge, openBesideGone } from '../../test/kit/beside-gone.ts'
import { type Bench, openBench } from '../../test/kit/log-bench.ts'
import { createLinker } from '../domain/audit/chain.ts'
import { checkpointsFile } from './checkpoints.ts'
import { hashing } from './hashing.ts'
import { type OfflineReport, verifyOffline } from './offline.ts'
import { frameAt, textOf } from './testing.ts'
import { digestLog } from './verify-chain.ts'

const script = fileURLToPath(new URL('../../../../scripts/verify_audit.py', import.meta.url))
const python = spawnSync('python3', ['--version']).status === 0

type Line = { seq: number; chain: string; id: string | null; hash: string; body: string }
type Lines = [header: object, ...Line[]]

const fileOf = ({ directory }: Bench): string => path.join(directory, 'export.jsonl')

/** What both verifiers say of the export in the file: integrity, number of the first bad entry, logs that are accepted. */
const verdictOf = async (bench: Bench, ...kept: string[]) => {
  const file = fileOf(bench)
  const [checkpointFile] = kept
  const report = await verifyOffline({
    exportFile: file,
    ...(checkpointFile ? { checkpointFile } : {}),
  })
  const verdict = ({ integrity, first_bad_seq, accepted }: Partial<OfflineReport>) => [
    integrity,
    first_bad_seq,
    accepted,
  ]
  if (python) {
    const more = checkpointFile ? ['--checkpoint', checkpointFile] : []
    const { stdout, status } = spawnSync('python3', [script, file, ...more], { encoding: 'utf8' })
    const found = JSON.parse(stdout) as Partial<OfflineReport>
    expect(verdict(found)).toEqual(verdict(report))
    expect(status).toBe(report.integrity === 'verified' ? 0 : 1)
  }
  return report
}

const exported = async (bench: Bench): Promise<OfflineReport> => {
  fs.writeFileSync(fileOf(bench), await textOf(bench.log.export()))
  return verdictOf(bench)
}

/** Changes the lines of the export. */
const edit = async (bench: Bench, change: (lines: Lines) => unknown): Promise<void> => {
  const lines = fs.readFileSync(fileOf(bench), 'utf8').trimEnd().split('\n')
  const parsed = lines.map((line) => JSON.parse(line) as Line) as unknown as Lines
  await change(parsed)
  fs.writeFileSync(fileOf(bench), `${parsed.map((line) => JSON.stringify(line)).join('\n')}\n`)
}

const acceptanceOf = async ({ log }: Bench, name: string, reason: string) => {
  const filter = { capability: 'audit.acknowledged', limit: 9, offset: 0 }
  const entry = (await log.query(filter)).entries.find(
    (one) => one.arguments?.['reason'] === reason,
  )
  return { log: name, by: 'user:ann', at: entry?.timestamp, reason, entry: entry?.id }
}

test('an export with damage of another log that was accepted says by whom and when, and a later change is found', async () => {
  await using beside = await openBesideGone()
  const {
    first,
    gone: [left],
  } = beside
  forge(left, 3)
  expect(await exported(first)).toMatchObject({ integrity: 'failed', first_bad_seq: 3 })
  await first.log.acknowledge('the disk was old', by)
  const found = await exported(first)
  const accepted = await acceptanceOf(first, 'left', 'the disk was old')
  expect(found).toMatchObject({
    ...{ integrity: 'verified', accepted: [accepted], root: { logs: 3 } },
    detail: expect.stringContaining(
      `the log of left is as damaged as user:ann accepted it at ${accepted.at} (${accepted.entry}: the disk was old)`,
    ) as string,
  })
  const isLeft = (seq: number) => (line: object) => {
    const { chain, seq: at } = line as Line
    return chain === 'left' && at === seq
  }
  await edit(first, (lines) => {
    const line = lines.find(isLeft(5)) as Line
    line.body = line.body.replace('notes/', 'noted/')
  })
  expect(await verdictOf(first)).toMatchObject({ integrity: 'failed', first_bad_seq: 3 })
  await exported(first)
  await edit(first, (lines) => {
    lines.splice(lines.findIndex(isLeft(1)), 1)
  })
  expect((await verdictOf(first)).integrity).toBe('failed')
})

test('an export of a log that was cut short and accepted, and goes on, is verified', async () => {
  await using beside = await openBesideGone()
  const {
    first,
    gone: [left, lost],
  } = beside
  await expect.poll(async () => (await first.log.verify()).root?.logs).toBe(3)
  for (const [bench, seq] of [
    [left, 4],
    [lost, 0],
  ] as const) {
    const { file, at } = frameAt(bench.directory, seq)
    fs.truncateSync(file, at)
    expect((await exported(first)).integrity).toBe('failed')
    await first.log.acknowledge(`gone from ${seq}`, by)
  }
  expect(await exported(first)).toMatchObject({ integrity: 'verified' })
  await left.reopen()
  await left.log.acknowledge('its own', by)
  await left.fill(2)
  await left.close()
  await first.log.acknowledge('it went on', by)
  expect((await first.log.verify()).integrity).toBe('verified')
  expect(await exported(first)).toMatchObject({
    integrity: 'verified',
    accepted: [{ log: 'left' }],
  })
})

test('accepted damage of the log of the export itself is passed over, and what comes after it is not', async () => {
  await using bench = await openBench({ checkpoint: { everyEntries: 4 } })
  await bench.fill(10)
  await exported(bench)
  const kept = path.join(bench.directory, 'kept')
  fs.copyFileSync(path.join(bench.directory, checkpointsFile), kept)
  const { file } = frameAt(bench.directory, 5)
  const bytes = fs.readFileSync(file)
  // No JSON any more.
  bytes.write('"', bytes.indexOf('notes/5.md'))
  fs.writeFileSync(file, bytes)
  expect((await bench.log.verify()).integrity).toBe('failed')
  expect((await exported(bench)).integrity).toBe('failed')
  await bench.log.acknowledge('a bad sector', by)
  await bench.fill(3)
  const accepted = [await acceptanceOf(bench, 'main', 'a bad sector')]
  expect(await exported(bench)).toMatchObject({ integrity: 'verified', accepted })
  // One over accepted entries alone vouches for nothing.
  expect(await verdictOf(bench, kept)).toMatchObject({ integrity: 'verified', kind: 'unanchored' })
  expect(
    await verifyOffline({
      ...{ exportFile: fileOf(bench), checkpointFile: kept, requireCheckpoint: true },
    }),
  ).toMatchObject({ integrity: 'failed', kind: 'unanchored' })
  fs.copyFileSync(path.join(bench.directory, checkpointsFile), kept)
  expect(await verdictOf(bench, kept)).not.toHaveProperty('kind')

  await edit(bench, (lines) => {
    const last = lines.findLast((line) => 'body' in line) as Line
    last.body = last.body.replace('notes/', 'noted/')
  })
  expect(await verdictOf(bench)).toMatchObject({ integrity: 'failed' })
})

test('an entry about an acceptance that no signature is over accepts nothing', async () => {
  await using beside = await openBesideGone()
  const { first, gone } = beside
  await expect.poll(async () => (await first.log.verify()).root?.logs).toBe(3)
  forge(gone[0], 3)
  expect(await exported(first)).toMatchObject({ integrity: 'failed', first_bad_seq: 3 })
  const of = (lines: Lines, name: string) =>
    lines.filter((line): line is Line => 'body' in line && line.chain === name)
  const digestOf = async (lines: readonly Line[]) => {
    const entries = lines.map(({ hash, ...line }) => ({ ...line, hash: hash.slice(7), seal: '' }))
    return (await digestLog({ entries: () => [entries] }, '', entries.length)).entries
  }
  await edit(first, async (lines) => {
    const digest = await digestOf(of(lines, 'left'))
    const last = of(lines, 'lost').at(-1) as Line
    const told = JSON.parse(last.body) as object
    const seq = last.seq + 1
    const id = 'aud-forged'
    const body = JSON.stringify({
      ...{ ...told, seq, id, capability: 'audit.acknowledged', actor: 'user:ann' },
      ...{ arguments: { reason: 'none', log: 'left' }, detail: { entries: 6, digest } },
    })
    const hash = createLinker(hashing).link(last.hash.slice(7), seq, body)
    lines.splice(lines.indexOf(last) + 1, 0, {
      ...{ seq, chain: 'lost', id, hash: `sha256:${hash}`, body },
    })
  })
  expect(await verdictOf(first)).toMatchObject({
    ...{ integrity: 'failed', first_bad_seq: 3 },
    detail: expect.stringContaining('no signature covers aud-forged') as string,
  })
})
