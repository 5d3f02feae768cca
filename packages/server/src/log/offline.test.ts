import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Bench, openBench } from '../../test/kit/log-bench.ts'
import { verifyConsistency, verifyInclusion } from '../domain/audit/proofs.ts'
import { checkProof } from './check-proof.ts'
import { checkpointsFile } from './checkpoints.ts'
import { hashing } from './hashing.ts'
import { parsePublicKey, publicKeyFile } from './keys.ts'
import { readCheckpoints } from './note.ts'
import { verifyOffline } from './offline.ts'
import { draft, textOf } from './testing.ts'

const python = spawnSync('python3', ['--version']).status === 0
const script = fileURLToPath(new URL('../../../../scripts/verify_audit.py', import.meta.url))

const idAt = (bench: Bench, seq: number): string =>
  (JSON.parse(bench.entries()[seq]?.body ?? '{}') as { id: string }).id

const ofDirectory = (bench: Bench, more = {}) =>
  verifyOffline({ directory: bench.directory, ...more })

const exported = async (bench: Bench, name = 'export.jsonl') => {
  const file = path.join(bench.directory, name)
  fs.writeFileSync(file, await textOf(bench.log.export()))
  return file
}

const byPython = (file: string, ...more: string[]) => {
  const { stdout } = spawnSync('python3', [script, file, ...more], { encoding: 'utf8' })
  return JSON.parse(stdout) as Record<string, unknown>
}

test('verifies a data directory while the service runs and after it has stopped', async () => {
  await using bench = await openBench()
  await bench.fill(300)
  expect(await ofDirectory(bench)).toMatchObject({ integrity: 'verified', entries: 300 })
  await bench.close()
  expect(await ofDirectory(bench)).toMatchObject({
    integrity: 'verified',
    anchor: { kind: 'head', size: 300 },
  })
})

test('L03: only a checkpoint kept elsewhere shows that the whole directory was put back', async () => {
  await using bench = await openBench()
  await bench.fill(40)
  await bench.close()
  const old = fs.mkdtempSync(`${bench.directory}-old-`)
  fs.cpSync(bench.directory, old, { recursive: true })
  await bench.reopen()
  await bench.fill(20)
  await bench.close()
  const checkpointFile = path.join(old, 'kept')
  fs.copyFileSync(path.join(bench.directory, checkpointsFile), checkpointFile)
  expect(await ofDirectory(bench, { checkpointFile })).not.toHaveProperty('kind')

  fs.cpSync(old, bench.directory, { recursive: true })
  expect(await ofDirectory(bench)).toMatchObject({ integrity: 'verified', kind: 'unanchored' })
  expect(await ofDirectory(bench, { requireCheckpoint: true })).toMatchObject({
    integrity: 'failed',
    kind: 'unanchored',
  })
  expect(await ofDirectory(bench, { checkpointFile })).toMatchObject({
    integrity: 'failed',
    kind: 'truncated',
    first_bad_seq: 40,
  })
  fs.rmSync(old, { recursive: true })
})

test('L05: an export made while entries are written is a prefix that verifies elsewhere', async () => {
  await using bench = await openBench({ checkpoint: { everyEntries: 100 } })
  await bench.fill(350)
  let writing = true
  const writer = (async () => {
    while (writing) await bench.log.append(draft())
  })()
  const exportFile = await exported(bench)
  writing = false
  await writer
  const publicKeyFile_ = path.join(bench.directory, publicKeyFile)
  const report = await verifyOffline({ exportFile, publicKeyFile: publicKeyFile_ })
  expect(report).toMatchObject({ integrity: 'verified', anchor: { kind: 'checkpoint' } })
  expect(report.entries).toBeGreaterThanOrEqual(350)
  expect(bench.entries().length).toBeGreaterThan(report.entries)
})

const line = (text: string, seq: number) =>
  text.split('\n').findIndex((l) => l.startsWith(`{"seq":${seq},`))

/** Each gets the lines of an export and returns where the first bad entry is. */
const tampering: Record<string, (lines: string[]) => number> = {
  'an entry changed': (lines) => {
    const i = line(lines.join('\n'), 60)
    lines[i] = (lines[i] as string).replace('mailbot', 'mailbox')
    return 60
  },
  'an entry removed': (lines) => {
    lines.splice(line(lines.join('\n'), 70), 1)
    return 70
  },
  'an entry doubled': (lines) => {
    const i = line(lines.join('\n'), 80)
    lines.splice(i, 0, lines[i] as string)
    return 80
  },
  'the tail cut': (lines) => {
    lines.splice(line(lines.join('\n'), 100), 20)
    return 100
  },
  'the checkpoints removed': (lines) => {
    lines.splice(0, lines.length, ...lines.filter((l) => !l.startsWith('{"checkpoint"')))
    return 0
  },
}

for (const [name, tamper] of Object.entries(tampering)) {
  test(`finds ${name} in an export`, async () => {
    await using bench = await openBench({ checkpoint: { everyEntries: 50 } })
    await bench.fill(120)
    const exportFile = await exported(bench)
    const lines = fs.readFileSync(exportFile, 'utf8').split('\n')
    const seq = tamper(lines)
    fs.writeFileSync(exportFile, lines.join('\n'))
    const report = await verifyOffline({ exportFile })
    expect(report).toMatchObject({ integrity: 'failed', first_bad_seq: seq })
    if (!python) return
    const second = byPython(exportFile)
    const { kind, first_bad_id } = report
    expect(second).toMatchObject({ integrity: 'failed', kind, first_bad_seq: seq, first_bad_id })
  })
}

test.runIf(python)(
  'a second verifier in Python agrees, with a key and a kept checkpoint',
  async () => {
    await using bench = await openBench({ checkpoint: { everyEntries: 50 } })
    await bench.fill(70)
    await bench.log.append(draft({ arguments: { text: 'größer 🙂 \u2028 \u0000 "q" \\' } }))
    const key = path.join(bench.directory, publicKeyFile)
    const kept = path.join(bench.directory, 'kept')
    fs.copyFileSync(path.join(bench.directory, checkpointsFile), kept)
    await bench.fill(30)
    const file = await exported(bench)
    const options = { exportFile: file, publicKeyFile: key, checkpointFile: kept }
    expect(await verifyOffline(options)).toMatchObject({ integrity: 'verified', entries: 101 })
    expect(byPython(file, '--public-key', key, '--checkpoint', kept)).toMatchObject({
      integrity: 'verified',
      entries: 101,
      anchor: 101,
      kept_checkpoint: true,
    })
  },
)

test('believes no checkpoint of another key', async () => {
  await using bench = await openBench()
  await using other = await openBench()
  await bench.fill(10)
  const exportFile = await exported(bench)
  const foreign = path.join(other.directory, publicKeyFile)
  expect(await verifyOffline({ exportFile, publicKeyFile: foreign })).toMatchObject({
    integrity: 'failed',
    kind: 'unanchored',
    first_bad_seq: 0,
  })
})

test('believes no checkpoint that was altered', async () => {
  await using bench = await openBench()
  await bench.fill(10)
  const exportFile = await exported(bench)
  const text = fs.readFileSync(exportFile, 'utf8')
  fs.writeFileSync(exportFile, text.replace('main\\n10\\n', 'main\\n11\\n'))
  expect(await verifyOffline({ exportFile })).toMatchObject({
    integrity: 'failed',
    kind: 'unanchored',
  })
  fs.writeFileSync(exportFile, text)
  expect(await verifyOffline({ exportFile })).toMatchObject({ integrity: 'verified' })
})

test('proves one entry, and that the log only grew, against signed roots', async () => {
  await using bench = await openBench({ checkpoint: { everyEntries: 32 } })
  await bench.fill(100)
  const inclusion = await bench.log.prove(idAt(bench, 41))
  if (!inclusion) throw new Error('no proof')
  expect(inclusion.seq).toBe(41)
  expect(verifyInclusion(hashing, { ...inclusion, index: 41 })).toBe(true)
  expect(verifyInclusion(hashing, { ...inclusion, index: 42 })).toBe(false)
  await textOf(bench.log.export())
  const key = parsePublicKey(bench.log.publicKey, 'test')
  const notes = fs.readFileSync(path.join(bench.directory, checkpointsFile), 'utf8')
  const signed = readCheckpoints(notes, key)
  expect(signed.at(-1)).toMatchObject({ size: 100, root: inclusion.root })
  const first = signed[0]?.size ?? 0
  const grown = await bench.log.proveConsistency(first)
  expect(grown.first_root).toBe(signed[0]?.root)
  expect(
    verifyConsistency(hashing, {
      first: grown.first,
      second: grown.second,
      firstRoot: grown.first_root,
      secondRoot: grown.second_root,
      proof: grown.proof,
    }),
  ).toBe(true)
})

test('a proof in a file is valid by itself, and by the key that was kept apart', async () => {
  await using bench = await openBench()
  await bench.fill(20)
  await using stranger = await openBench()
  const proof = await bench.log.prove(idAt(bench, 7))
  if (!proof) throw new Error('no proof')
  const file = (name: string, content: object | string) => {
    const at = path.join(bench.directory, name)
    fs.writeFileSync(at, typeof content === 'string' ? content : JSON.stringify(content))
    return at
  }
  const key = file('kept.pub', bench.log.publicKey)
  const other = file('other.pub', stranger.log.publicKey)
  expect(checkProof(file('whole', proof))).toMatchObject({ valid: true, seq: 7, size: 20 })
  expect(checkProof(file('whole', proof), key)).toMatchObject({ valid: true })
  expect(checkProof(file('whole', proof), other)).toMatchObject({ valid: false })
  const altered = [
    { ...proof, body: proof.body.replace('"success"', '"error"') },
    { ...proof, seq: 8 },
    { ...proof, proof: proof.proof.toReversed() },
    { ...proof, root: proof.leaf },
    { ...proof, checkpoint: proof.checkpoint.replace('\n20\n', '\n19\n') },
  ]
  for (const [n, one] of altered.entries())
    expect([n, checkProof(file('altered', one), key).valid]).toEqual([n, false])
  for (const text of ['', '{}', '{"format":"gatehouse-audit-proof-v1"}'])
    expect(() => checkProof(file('broken', text))).toThrow('this is no proof of an audit entry')
  expect(await bench.log.prove('aud-nobody')).toBeNull()
})

test('signs checkpoints that openssl can verify', async () => {
  await using bench = await openBench()
  await bench.fill(5)
  await bench.close()
  const note = fs.readFileSync(path.join(bench.directory, checkpointsFile), 'utf8')
  const [text = '', signatures = ''] = note.split('\n\n')
  const signature = Buffer.from(signatures.trim().split(' ')[2] ?? '', 'base64').subarray(4)
  const file = (name: string, content: string | Buffer) => {
    const at = path.join(bench.directory, name)
    fs.writeFileSync(at, content)
    return at
  }
  const args = ['-in', file('text', `${text}\n`), '-sigfile', file('signature', signature)]
  const key = path.join(bench.directory, publicKeyFile)
  const told = execFileSync(
    'openssl',
    ['pkeyutl', '-verify', '-rawin', '-pubin', '-inkey', key, ...args],
    { encoding: 'utf8' },
  )
  expect(told).toContain('Verified Successfully')
})
