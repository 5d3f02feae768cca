import fs from 'node:fs'
import path from 'node:path'
import { expect, test, vi } from 'vitest'
import { openBench } from '../../test/kit/log-bench.ts'
import type { Log } from '../ports/log.ts'
import { checkpointsFile } from './checkpoints.ts'
import { parsePublicKey, publicKeyFile } from './keys.ts'
import { readCheckpoints, readNotes } from './note.ts'
import { verifyOffline } from './offline.ts'
import { setAsideFile } from './set-aside.ts'
import { silent } from './testing.ts'

const redactionKey = 'audit-redaction.key'

/** The file with one bit of each byte changed in turn; the bit moves along. */
function* flipsOf(bytes: Buffer): Generator<[at: number, flipped: Buffer]> {
  for (let at = 0; at < bytes.length; at += 1) {
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] as number) ^ (1 << (at % 8))
    yield [at, flipped]
  }
}

const replace = (file: string, content: Uint8Array): void => {
  const { mode } = fs.statSync(file)
  fs.rmSync(file)
  fs.writeFileSync(file, content, { mode })
}

test('a key for hashes of sensitive values of which a bit changed is refused by name, and the sum beside it', async () => {
  await using bench = await openBench()
  await bench.close()
  for (const name of [redactionKey, `${redactionKey}.sha256`]) {
    const file = path.join(bench.directory, name)
    const bytes = fs.readFileSync(file)
    for (const [, flipped] of flipsOf(bytes)) {
      replace(file, flipped)
      await expect(bench.reopen()).rejects.toMatchObject({
        type: 'InvalidConfiguration',
        facts: {
          origin: path.join(bench.directory, redactionKey),
          detail: `it is not as the service left it, by ${redactionKey}.sha256`,
        },
        recovery: [
          { action: 'restore a backup' },
          { action: expect.stringMatching(/^rm /) as string },
        ],
      })
    }
    replace(file, bytes)
  }
  await bench.reopen()
  await bench.close()
  // As an installation has it that is older than the sum.
  fs.rmSync(path.join(bench.directory, `${redactionKey}.sha256`))
  await bench.reopen()
  expect(fs.existsSync(path.join(bench.directory, `${redactionKey}.sha256`))).toBe(true)
})

test('a public key that is not that of the signing key is reported, and written anew', async () => {
  await using bench = await openBench()
  await bench.fill(3)
  await bench.close()
  const file = path.join(bench.directory, publicKeyFile)
  const pem = fs.readFileSync(file)
  const flipped = Buffer.from(pem)
  flipped[60] = (flipped[60] as number) ^ 1
  replace(file, flipped)
  await expect(verifyOffline({ directory: bench.directory })).rejects.toMatchObject({
    message: expect.stringContaining(file) as string,
  })
  await bench.reopen()
  expect(fs.readFileSync(file)).toEqual(pem)
  expect(await bench.log.verify()).toMatchObject({
    integrity: 'failed',
    kind: 'anchor_missing',
    detail: expect.stringContaining(publicKeyFile) as string,
  })
  expect(await bench.log.acknowledge('a bad sector')).toMatchObject({ integrity: 'verified' })
  await bench.close()
  // One that is missing is written, and is no finding.
  fs.rmSync(file)
  await bench.reopen()
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
  expect(fs.readFileSync(file)).toEqual(pem)
})

test('each bit that changes in a checkpoint is found, and a note that a crash cut off is none', async () => {
  await using bench = await openBench({ checkpoint: { everyEntries: 3 } })
  for (let i = 0; i < 3; i += 1) {
    await bench.fill(3)
    await bench.log.verify()
  }
  await bench.close()
  const text = fs.readFileSync(path.join(bench.directory, checkpointsFile))
  const { publicKey } = bench.log
  const key = parsePublicKey(publicKey, publicKeyFile)
  const all = readCheckpoints(text.toString(), key).map(({ size }) => size)
  expect(all.length).toBeGreaterThan(2)
  const passed: string[] = []
  for (const [at, flipped] of flipsOf(text)) {
    const { checkpoints, damaged } = readNotes(flipped.toString(), key)
    // A checkpoint that still says the same, in bits that base64 has no use for.
    if (damaged.length === 0 && checkpoints.length !== all.length) passed.push(`${at}`)
  }
  expect(passed).toEqual([])
  for (let end = 0; end <= text.length; end += 1) {
    const cut = text.subarray(0, end).toString()
    expect([end, readNotes(cut, key).damaged]).toEqual([end, []])
    const goesOn = `${cut}\n\n${text.toString()}`
    expect([end, readNotes(goesOn, key).damaged]).toEqual([end, []])
  }
})

test('a damaged file of checkpoints is reported until it is acknowledged, and what is damaged is moved aside', async () => {
  const error = vi.fn<Log['error']>()
  await using bench = await openBench({ log: { ...silent, error } })
  await bench.fill(5)
  await bench.close()
  const file = path.join(bench.directory, checkpointsFile)
  const bytes = fs.readFileSync(file)
  const at = bytes.indexOf('main\n') + 5
  replace(file, bytes.fill('9', at, at + 1))
  expect(await verifyOffline({ directory: bench.directory })).toMatchObject({
    integrity: 'failed',
    kind: 'anchor_missing',
    detail: expect.stringContaining('checkpoints.log is damaged') as string,
  })
  await bench.reopen()
  expect(error).toHaveBeenCalledWith(
    { chain: 'main', alarm: expect.objectContaining({ kind: 'anchor_missing' }) as object },
    expect.stringContaining('failed verification'),
  )
  const named = { integrity: 'failed', detail: expect.stringContaining(checkpointsFile) as string }
  expect(await bench.log.verify()).toMatchObject(named)
  expect(bench.log.health()).toMatchObject({ status: 'degraded' })
  await bench.reopen()
  expect(await bench.log.verify()).toMatchObject(named)
  expect(fs.readFileSync(path.join(bench.directory, setAsideFile), 'utf8')).toContain(
    'gatehouse/audit/main\\n9\\n',
  )
  expect(await bench.log.acknowledge('a bad sector')).toMatchObject({ integrity: 'verified' })
  await bench.reopen()
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
  expect(await verifyOffline({ directory: bench.directory })).toMatchObject({
    integrity: 'verified',
  })
})
