import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { type Bench, openBench } from '../../test/kit/log-bench.ts'
import { loadKeys, publicKeyFile } from './keys.ts'
import { segmentsFolder } from './log-files.ts'
import { verifyOffline } from './offline.ts'
import { addRemoval, type Removal, removalsFile } from './removals.ts'
import { IdleLogs, logFolder, SiblingLogs } from './sibling-logs.ts'
import { draft, everything, textOf } from './testing.ts'

const day = 86_400_000
const python = spawnSync('python3', ['--version']).status === 0
const script = fileURLToPath(new URL('../../../../scripts/verify_audit.py', import.meta.url))
const by = { actor: 'user:ann', request_id: 'req-9' }

const newFolder = (): string => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-retention-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The log of a gate process that keeps entries for 30 days, and a folder where others find it. */
const openGate = async () => {
  const retention = { maxAgeMs: 30 * day, maxBytes: null, exported: () => [] }
  const bench = await openBench({ chain: 'gate', retention })
  const folder = newFolder()
  fs.symlinkSync(bench.directory, path.join(folder, logFolder))
  return { bench, folder }
}

const openFirst = (folder: string, isIdle: boolean): Promise<Bench> => {
  const [all, idle] = [
    new SiblingLogs(() => [folder]),
    new IdleLogs(() => (isIdle ? [folder] : [])),
  ]
  return openBench({ chain: 'first', siblings: { all, idle, isFirst: true } })
}

const fillSegments = async ({ log }: Bench): Promise<void> => {
  for (let i = 0; i < 900; i += 30)
    await Promise.all(
      Array.from({ length: 30 }, (_, k) =>
        log.append(draft({ arguments: { path: `${i + k}`, text: 'x'.repeat(700) } })),
      ),
    )
}

/** Removes what is old, and tells how many entries that were. */
const prune = async (bench: Bench): Promise<number> => {
  bench.clock.move(40 * day)
  await bench.fill(50)
  const { removed } = await bench.log.applyRetention(by)
  return removed?.entries ?? 0
}

const ofGate = async ({ log }: Bench): Promise<number> =>
  (await log.query({ ...everything, agent: 'mailbot' })).total

test('the log of another process is read from where its retention left it', async () => {
  const { bench: gate, folder } = await openGate()
  await using _gate = gate
  await using first = await openFirst(folder, false)
  await fillSegments(gate)
  expect(await ofGate(first)).toBe(900)
  // Its end is recorded when this one stops.
  await first.reopen()
  const removed = await prune(gate)
  expect(removed).toBeGreaterThan(200)
  expect(await ofGate(first)).toBe(950 - removed)
  const [oldest] = (
    await first.log.query({ agent: 'mailbot', limit: 1, offset: 950 - removed - 1 })
  ).entries
  expect(oldest).toMatchObject({ chain: 'gate', seq: removed })
  expect(await first.log.verify()).toMatchObject({ integrity: 'verified' })
  await first.reopen()
  expect(await ofGate(first)).toBe(950 - removed)
  expect(await first.log.verify()).toMatchObject({ integrity: 'verified' })

  const exportFile = path.join(newFolder(), 'export.jsonl')
  const text = await textOf(first.log.export())
  const [header = '', ...lines] = text.split('\n')
  const told = JSON.parse(header) as { chains: Record<string, unknown>[] }
  const verified = {
    integrity: 'verified',
    entries: lines.filter((l) => l.includes('"body"')).length,
  }
  const chains = told.chains.map(({ removal, ...chain }) =>
    removal ? { ...chain, removal: { ...removal, signature: 'AAAA' } } : chain,
  )
  const failed = { integrity: 'failed', kind: 'missing' }
  for (const [given, expected] of [
    [told, verified],
    [{ ...told, chains: told.chains.map(({ removal: _, ...chain }) => chain) }, failed],
    [{ ...told, chains }, failed],
  ] as const) {
    fs.writeFileSync(exportFile, [JSON.stringify(given), ...lines].join('\n'))
    expect(await verifyOffline({ exportFile })).toMatchObject(expected)
    if (!python) continue
    const { stdout } = spawnSync('python3', [script, exportFile], { encoding: 'utf8' })
    expect(JSON.parse(stdout)).toMatchObject(expected)
  }
})

test('the beginning of a log that nobody writes any more is that which its process signed', async () => {
  const { bench: gate, folder } = await openGate()
  await using _gate = gate
  await fillSegments(gate)
  const removed = await prune(gate)
  await gate.close()
  await using first = await openFirst(folder, true)
  await first.reopen()
  expect(await ofGate(first)).toBe(950 - removed)
  expect(await first.log.verify()).toMatchObject({ integrity: 'verified', root: { logs: 2 } })

  const file = path.join(gate.directory, removalsFile)
  const signed = fs.readFileSync(file, 'utf8')
  const { record } = JSON.parse(signed) as { record: string }
  // With a key of somebody else.
  const foreign = newFolder()
  addRemoval(foreign, loadKeys(foreign), JSON.parse(record) as Removal)
  fs.copyFileSync(path.join(foreign, removalsFile), file)
  const gone = { integrity: 'failed', kind: 'missing', first_bad_seq: 0 }
  expect(await first.log.verify()).toMatchObject(gone)
  fs.writeFileSync(file, signed)
  expect(await first.log.verify()).toMatchObject({ integrity: 'verified' })
  fs.copyFileSync(path.join(foreign, publicKeyFile), path.join(gate.directory, publicKeyFile))
  expect(await first.log.verify()).toMatchObject(gone)
  // With both somebody else passes for the process, but for the root that this one made when it ended.
  fs.copyFileSync(path.join(foreign, removalsFile), file)
  expect(await first.log.verify()).toMatchObject({
    integrity: 'failed',
    detail: 'the log of gate has another key than under the root that first signed',
  })
  fs.rmSync(path.join(gate.directory, segmentsFolder), { recursive: true })
  expect(await first.log.verify()).toMatchObject({ integrity: 'failed', kind: 'truncated' })
})
