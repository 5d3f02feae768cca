import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { type Bench, openBench } from '../../test/kit/log-bench.ts'
import { emptyLog } from '../domain/audit/chain.ts'
import { entryOf } from '../domain/audit/entry.ts'
import { rootOverHeads } from '../domain/audit/heads-root.ts'
import { checkProof } from './check-proof.ts'
import { checkpointsFile } from './checkpoints.ts'
import type { ExportHeader } from './export.ts'
import { hashing } from './hashing.ts'
import { loadKeys, publicKeyFile } from './keys.ts'
import { LogReader, segmentsFolder } from './log-files.ts'
import { verifyOffline } from './offline.ts'
import { findMisfit, headsAct, keyPrint, readRecordedRoot } from './recorded-root.ts'
import { signRoot } from './root-note.ts'
import { IdleLogs, logFolder, SiblingLogs } from './sibling-logs.ts'
import { headFile } from './signed-head.ts'
import { frameAt, textOf } from './testing.ts'

const python = spawnSync('python3', ['--version']).status === 0
const script = fileURLToPath(new URL('../../../../scripts/verify_audit.py', import.meta.url))

const newFolder = (): string => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-roots-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The log of a gate process, and that of the first one, which reads it. */
const openTwo = async () => {
  const gate = await openBench({ chain: 'gate' })
  const folder = newFolder()
  fs.symlinkSync(gate.directory, path.join(folder, logFolder))
  const first = await openBench({
    chain: 'first',
    // Read anew by each life of the service.
    get siblings() {
      const folders = () => (fs.existsSync(path.join(folder, logFolder)) ? [folder] : [])
      return { all: new SiblingLogs(folders), idle: new IdleLogs(() => []), isFirst: true }
    },
  })
  return {
    gate,
    first,
    folder,
    [Symbol.asyncDispose]: async () => {
      await first[Symbol.asyncDispose]()
      await gate[Symbol.asyncDispose]()
    },
  }
}

const roots = async ({ log }: Bench): Promise<number> =>
  (await log.query({ capability: headsAct, limit: 1, offset: 0 })).total

/** Lets the minute pass after which a root is made, if there is reason to. */
const minute = async (bench: Bench): Promise<void> => {
  bench.clock.move(60_000)
  await expect.poll(async () => (await bench.log.verify()).integrity).toBe('verified')
}

test('a root is made over all logs when another one has grown, and only then', async () => {
  await using two = await openTwo()
  const { gate, first } = two
  await first.fill(3)
  expect((await first.log.verify()).root).toBeUndefined()
  await gate.fill(5)
  first.clock.move(60_000)
  await expect.poll(() => roots(first)).toBe(1)
  const found = await first.log.verify()
  const [entry] = (await first.log.query({ capability: headsAct, limit: 1, offset: 0 })).entries
  expect(found).toMatchObject({
    integrity: 'verified',
    root: { logs: 2, chain: 'first', entry: entry?.id, root: entry?.detail?.['root'] },
  })
  expect(entry?.arguments).toMatchObject({ gate: { size: 5 }, first: { size: 3 } })
  await minute(first)
  await first.fill(3)
  await minute(first)
  expect(await roots(first)).toBe(1)
  await gate.fill(1)
  await first.reopen()
  expect(await roots(first)).toBe(2)
  expect((await first.log.verify()).root?.root).not.toBe(found.root?.root)
})

test('a log that was cut short stays named, and no root is made over it until a person accepts it', async () => {
  await using two = await openTwo()
  const { gate, first } = two
  await gate.fill(5)
  await first.reopen()
  await gate.fill(5)
  await first.reopen()
  await gate.close()
  // With all that the process sealed over its log.
  for (const name of [headFile, checkpointsFile]) fs.rmSync(path.join(gate.directory, name))
  const [segment = ''] = fs.readdirSync(path.join(gate.directory, segmentsFolder))
  const { at } = frameAt(gate.directory, 5)
  fs.truncateSync(path.join(gate.directory, segmentsFolder, segment), at)
  const cut = {
    integrity: 'failed',
    kind: 'truncated',
    detail:
      'the log of gate is gone, up to the head of 10 entries under the root that first signed',
  }
  await first.reopen()
  const before = await roots(first)
  expect(await first.log.verify()).toMatchObject(cut)
  first.clock.move(60_000)
  expect(await first.log.verify()).toMatchObject(cut)
  await first.reopen()
  expect(await first.log.verify()).toMatchObject(cut)
  expect(await roots(first)).toBe(before)
  expect(await first.log.acknowledge('a test')).toMatchObject({
    integrity: 'verified',
    root: { logs: 2 },
  })
  fs.rmSync(path.join(two.folder, logFolder))
  expect(await first.log.verify()).toMatchObject({
    integrity: 'failed',
    detail: expect.stringContaining('the log of gate ') as string,
  })
})

type Change = (header: ExportHeader, lines: string[]) => [object, string[]]

const ofGate = (line: string): boolean => line.includes('"chain":"gate","id"')

test('an export is compared with the newest root in it, and that with a root that was kept elsewhere', async () => {
  await using two = await openTwo()
  const { gate, first } = two
  await gate.fill(5)
  await first.fill(2)
  await first.reopen()
  const early = await textOf(first.log.export())
  await gate.fill(2)
  await first.reopen()
  const kept = newFolder()
  expect(await first.log.verify()).toMatchObject({ root: { logs: 2 } })
  const told = await first.log.exportSource.notesAfter(0)
  const [witnessed, checkpoint] = (['all logs', 'log'] as const).map((kind) =>
    told.findLast(({ of }) => of === kind),
  )
  const notes = path.join(kept, 'notes.txt')
  fs.writeFileSync(notes, `${witnessed?.note}\n${checkpoint?.note}\n`)
  const [head = '', ...rest] = (await textOf(first.log.export())).trimEnd().split('\n')
  const header = JSON.parse(head) as ExportHeader

  const file = path.join(kept, 'export.jsonl')
  const judge = async (text: string, expected: object, withKept = true) => {
    fs.writeFileSync(file, text)
    const options = withKept ? { checkpointFile: notes } : {}
    expect(await verifyOffline({ exportFile: file, ...options })).toMatchObject(expected)
    if (!python) return
    const args = [script, file, ...(withKept ? ['--checkpoint', notes] : [])]
    const { stdout, stderr } = spawnSync('python3', args, { encoding: 'utf8' })
    expect(stderr).toBe('')
    const { detail: _, first_bad_id: __, ...told } = expected as Record<string, unknown>
    expect(JSON.parse(stdout)).toMatchObject(told)
  }
  const change = (by: Change): string => {
    const [changed, lines] = by(header, rest)
    return [JSON.stringify(changed), ...lines].join('\n')
  }
  const chains = (name: string, by: object | null) =>
    header.chains.flatMap((one) => (one.chain !== name ? one : by ? { ...one, ...by } : []))

  const root = { logs: 2, chain: 'first' }
  await judge(
    change((same, lines) => [same, lines]),
    { integrity: 'verified', root },
  )
  const cut = { integrity: 'failed', kind: 'truncated', first_bad_seq: 6 }
  await judge(
    change((all, lines) => [
      { ...all, chains: chains('gate', { size: 6 }) },
      lines.filter((line) => !(ofGate(line) && line.startsWith('{"seq":6'))),
    ]),
    { ...cut, detail: expect.stringContaining('the log of gate is gone') as string },
  )
  await judge(
    change((all, lines) => [
      { ...all, chains: chains('gate', null) },
      lines.filter((line) => !ofGate(line)),
    ]),
    cut,
  )
  const other = loadKeys(newFolder()).raw.toString('base64')
  await judge(
    change((all, lines) => [{ ...all, chains: chains('gate', { public_key: other }) }, lines]),
    { integrity: 'failed', kind: 'modified', first_bad_seq: 0 },
  )
  // An export from before that root lacks the entry about it; by itself it is sound.
  await judge(early, { integrity: 'verified', root }, false)
  fs.writeFileSync(notes, `${witnessed?.note}\n`)
  await judge(early, { integrity: 'failed', kind: 'truncated' })
})

test('a root is that which the key of its process signed, over the heads that are told with it', async () => {
  await using two = await openTwo()
  const { gate, first } = two
  await gate.fill(3)
  await first.fill(1)
  await first.reopen()
  const [entry] = (await first.log.query({ capability: headsAct, limit: 1, offset: 0 })).entries
  const recorded = entry && readRecordedRoot(entry)
  if (!recorded) throw new Error('no root was recorded')
  const keys = { first: loadKeys(first.directory), gate: loadKeys(gate.directory) }
  const all = (directory: string) => [...new LogReader(directory).entries(0)].flat()
  const entries = { first: all(first.directory), gate: all(gate.directory) }
  const logs = {
    isTold: () => true,
    hashAt: async (chain: string, seq: number) =>
      entries[chain as keyof typeof entries][seq]?.hash ?? null,
    start: () => emptyLog,
    key: (chain: string) => keys[chain as keyof typeof keys],
  }
  expect(await findMisfit(recorded, logs)).toBeNull()
  const short = recorded.heads.map((head) =>
    head.chain === 'gate' ? { ...head, size: 2, head: entries.gate[1]?.hash ?? '' } : head,
  )
  const root = rootOverHeads(hashing, short)
  const claim = { chain: 'first', logs: 2, root, size: 1 }
  const forged = {
    kind: 'modified',
    id: recorded.id,
    detail: 'the root over all logs that first recorded is not the one that its key signed',
  }
  for (const change of [
    { heads: short },
    { heads: short, root },
    { heads: short, root, note: signRoot(claim, loadKeys(newFolder())).note },
    { note: recorded.note.replace('\n2\n', '\n3\n') },
    { root: `${'0'.repeat(64)}` },
  ])
    expect(await findMisfit({ ...recorded, ...change }, logs)).toMatchObject(forged)
  const own = { heads: short, root, note: signRoot(claim, keys.first).note }
  expect(await findMisfit({ ...recorded, ...own }, logs)).toBeNull()
  expect(fs.readFileSync(path.join(first.directory, publicKeyFile), 'utf8')).toBe(keys.first.pem)
  expect(readRecordedRoot(entryOf({ ...recorded, body: '{}' } as never))).toBeNull()
})

test('an entry of any log is proved, up to the root over all, by the key of its log or of the signer of the root', async () => {
  await using two = await openTwo()
  const { gate, first } = two
  await gate.fill(9)
  await first.fill(3)
  const file = path.join(newFolder(), 'proof.json')
  const idIn = async ({ log }: Bench, seq: number): Promise<string> =>
    (await log.rows.range(log === first.log ? 'first' : 'gate', seq, seq + 1, 1))[0]?.id ?? ''
  const [fourth, own] = [await idIn(gate, 4), await idIn(first, 1)]
  // The process of that log signs it.
  await expect(first.log.prove(fourth)).rejects.toThrow('No checkpoint of the log of gate is over')
  await gate.log.sign()
  const before = await first.log.prove(fourth)
  expect(before).toMatchObject({ seq: 4, size: 9, public_key: gate.log.publicKey })
  expect(before?.all_logs).toBeUndefined()
  await first.reopen()
  await gate.fill(1)
  await gate.log.sign()

  const kept = (name: string, pem: string): string => {
    const at = path.join(path.dirname(file), name)
    fs.writeFileSync(at, pem)
    return at
  }
  const keys = {
    gate: kept('gate.pub', gate.log.publicKey),
    first: kept('first.pub', first.log.publicKey),
    stranger: kept('stranger.pub', loadKeys(newFolder()).pem),
  }
  const judge = (proof: object, key: keyof typeof keys | null, also = ''): string => {
    fs.writeFileSync(file, JSON.stringify(proof))
    const found = checkProof(file, ...(key ? [keys[key]] : []))
    if (python && also === 'python') {
      const args = [script, file, ...(key ? ['--public-key', keys[key]] : [])]
      const { stdout, stderr } = spawnSync('python3', args, { encoding: 'utf8' })
      expect(stderr).toBe('')
      expect(JSON.parse(stdout)).toMatchObject({ integrity: found.valid ? 'verified' : 'failed' })
    }
    return `${found.valid ? '' : 'not valid: '}${found.detail}`
  }
  const late = await first.log.prove(await idIn(gate, 9))
  const proof = await first.log.prove(fourth)
  if (!proof?.all_logs || !late) throw new Error('no proof')
  expect(late.all_logs).toMatchObject({ head: { chain: 'gate', size: 9 } })
  expect(judge(proof, 'gate')).toMatch(/^signed by the key that was given; the root over all logs/)
  expect(judge(proof, 'first', 'python')).toMatch(
    /^signed by the key that its log has under the root/,
  )
  expect(judge(late, 'first')).toMatch(/^signed by the key that its log has under the root/)
  expect(judge(proof, null)).toBe('signed by the key that came with the proof')
  expect(judge(proof, 'stranger')).toBe('not valid: the checkpoint is not signed by this key')
  expect(judge(before ?? {}, 'first', 'python')).toBe(
    'not valid: the checkpoint is not signed by this key',
  )
  expect(judge((await first.log.prove(own)) ?? {}, 'first')).toBe(
    'signed by the key that was given',
  )

  // A log of somebody else, with the name and the root of this one.
  await using forger = await openBench({ chain: 'gate' })
  await forger.fill(9)
  const forged = { ...(await forger.log.prove(await idIn(forger, 4))), all_logs: proof.all_logs }
  const another = 'not valid: the root over all logs is about another log, or another key of it'
  expect(judge(forged, 'first', 'python')).toBe(another)
  const { all_logs } = proof
  const { head } = all_logs
  const print = keyPrint(loadKeys(forger.directory).raw)
  const ofGate =
    'not valid: the hashes do not lead from the log of the entry to the root over all logs'
  const unsigned = 'not valid: the root over all logs is not signed by this key'
  for (const [change, detail, also] of [
    [{ head: { ...head, key: print } }, ofGate, 'python'],
    [{ index: 1 - all_logs.index }, ofGate],
    [{ proof: [] }, ofGate],
    [{ root: proof.root }, unsigned],
    [{ logs: 3 }, unsigned],
    [{ note: all_logs.note.replace('\n2\n', '\n3\n'), logs: 3 }, unsigned],
    [{ chain: 'gate' }, unsigned],
  ] as const)
    expect(judge({ ...forged, all_logs: { ...all_logs, ...change } }, 'first', also)).toBe(detail)
})

test('over more logs than a root can be over none is made, and health and each answer say so until there are fewer', async () => {
  const gate = await openBench({ chain: 'gate' })
  const folder = newFolder()
  fs.symlinkSync(gate.directory, path.join(folder, logFolder))
  let logs = 257
  /** The one log as often as there would be others. */
  class Many extends SiblingLogs {
    override async ends() {
      const [end] = await super.ends()
      return end ? Array.from({ length: logs - 1 }, () => end) : []
    }
  }
  await using first = await openBench({
    chain: 'first',
    siblings: { all: new Many(() => [folder]), idle: new IdleLogs(() => []), isFirst: true },
  })
  await gate.fill(2)
  const said = /^there are 257 audit logs, and no new root over all is made/
  first.clock.move(60_000)
  await expect
    .poll(() => first.log.health())
    .toMatchObject({
      status: 'degraded',
      reason: expect.stringMatching(said) as string,
    })
  const verified = { integrity: 'verified', detail: expect.stringMatching(said) as string }
  expect(await first.log.verify()).toMatchObject(verified)
  // A person can accept a finding all the same.
  fs.truncateSync(path.join(first.directory, checkpointsFile))
  fs.appendFileSync(path.join(first.directory, checkpointsFile), 'no checkpoint')
  await first.reopen()
  expect((await first.log.verify()).integrity).toBe('failed')
  expect((await first.log.acknowledge('a test')).integrity).toBe('verified')
  expect(await roots(first)).toBe(0)

  logs = 2
  first.clock.move(60_000)
  await expect.poll(() => roots(first)).toBe(1)
  expect(first.log.health()).toMatchObject({ status: 'healthy' })
  expect((await first.log.verify()).detail).not.toMatch(said)
  await gate[Symbol.asyncDispose]()
})
