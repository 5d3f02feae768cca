import fs from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Bench, openBench } from '../../test/kit/log-bench.ts'
import type { Log } from '../ports/log.ts'
import { openAuditLog } from './audit-log.ts'
import { checkpointsFile } from './checkpoints.ts'
import { publicKeyFile } from './keys.ts'
import { lastClockOf } from './last-clock.ts'
import { LogFiles, LogReader, segmentsFolder } from './log-files.ts'
import { setAsideFile } from './set-aside.ts'
import { headFile } from './signed-head.ts'
import { createIds, draft, everything, frameAt, silent } from './testing.ts'

/** Bytes that are read from files in a folder, from now on. */
const watchReads = (folder: string): { readonly bytes: () => number } => {
  let bytes = 0
  const watched = new Set<number>()
  const { openSync, readSync } = fs
  const open = vi.spyOn(fs, 'openSync').mockImplementation((...args) => {
    const fd = openSync(...args)
    if (String(args[0]).startsWith(folder)) watched.add(fd)
    else watched.delete(fd)
    return fd
  })
  const read = vi.spyOn(fs, 'readSync').mockImplementation((...args: unknown[]) => {
    const count = Reflect.apply(readSync, fs, args) as number
    if (watched.has(args[0] as number)) bytes += count
    return count
  })
  onTestFinished(() => {
    open.mockRestore()
    read.mockRestore()
  })
  return { bytes: () => bytes }
}

test('a start reads the last segment once, and single groups of it', async () => {
  await using bench = await openBench()
  await bench.fill(1_000)
  await bench.close()
  const folder = path.join(bench.directory, segmentsFolder)
  const segments = fs.readdirSync(folder).filter((name) => name.endsWith('.log'))
  const { size } = fs.statSync(path.join(folder, segments.toSorted().at(-1) ?? ''))

  const reads = watchReads(folder)
  const files = new LogFiles(bench.directory)
  expect(lastClockOf(files)).toBe(bench.clock.ms)
  await using log = await openAuditLog({
    ...{ directory: bench.directory, files, chain: 'main', storage: bench.store.storage },
    ...{ ids: createIds(), clock: bench.clock, log: silent, verifyEveryMs: 0 },
  })
  expect(reads.bytes()).toBeGreaterThanOrEqual(size)
  expect(reads.bytes()).toBeLessThan(size * 1.5)
  expect((await log.append(draft())).seq).toBe(1_000)
})

test('a log of another name is refused, with both names and the file that has the other', async () => {
  await using bench = await openBench()
  await bench.fill(1)
  await bench.close()
  const opened = openAuditLog({
    ...{ directory: bench.directory, chain: 'moan', storage: bench.store.storage },
    ...{ ids: createIds(), clock: bench.clock, log: silent, verifyEveryMs: 0 },
  })
  await expect(opened).rejects.toMatchObject({
    type: 'InvalidConfiguration',
    message: expect.stringMatching(/log of main, but node-id beside it says moan/),
  })
})

const setAsideIn = (directory: string): string => {
  const file = path.join(directory, setAsideFile)
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
}

/** Writes into the last segment, so many bytes behind its last frame. */
const scribble = ({ directory }: Bench, bytes: Buffer, behind: number): void => {
  const last = new LogReader(directory).end - 1
  const { file, at, bytes: length } = frameAt(directory, last)
  const fd = fs.openSync(file, 'r+')
  fs.writeSync(fd, bytes, 0, bytes.length, at + length + behind)
  fs.closeSync(fd)
}

test('bytes behind the end that are no entry are kept elsewhere and reported; the next entry takes their place', async () => {
  const warn = vi.fn<Log['warn']>()
  await using bench = await openBench({ log: { ...silent, warn } })
  await bench.fill(5)
  await bench.reopen()
  expect(warn).not.toHaveBeenCalled()
  expect(setAsideIn(bench.directory)).toBe('')

  const foreign = Buffer.from('no frame of anybody')
  await bench.close()
  scribble(bench, foreign, 7)
  await bench.reopen()
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    { at: expect.any(Number), length: foreign.length },
    expect.stringContaining('bytes behind the end of the audit log are no entries'),
  )
  expect(setAsideIn(bench.directory)).toContain(foreign.toString('base64'))
  expect(new LogReader(bench.directory).residue).toBeNull()
  await bench.log.append(draft())
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified', verified_through: 5 })

  scribble(bench, Buffer.from('again, while it runs'), 100)
  expect(await bench.log.query(everything)).toMatchObject({ integrity: 'verified', total: 6 })
  expect(warn).toHaveBeenCalledTimes(2)
  expect((await bench.log.append(draft())).seq).toBe(6)
})

test('a last write that was not finished is kept elsewhere and reported, and is no finding', async () => {
  const warn = vi.fn<Log['warn']>()
  await using bench = await openBench({ log: { ...silent, warn } })
  await bench.fill(5)
  await bench.close()
  const names = [headFile, checkpointsFile]
  const before = names.map((name) => fs.readFileSync(path.join(bench.directory, name)))
  await bench.reopen()
  await bench.log.append(draft())
  await bench.close()
  // As after a loss of power: what is sealed is what it was, and a part of the write is not there.
  for (const [i, name] of names.entries())
    fs.writeFileSync(path.join(bench.directory, name), before[i] ?? '')
  scribble(bench, Buffer.alloc(16), -32)
  await bench.reopen()
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ seq: 5 }),
    expect.stringContaining('the last write of the audit log was not finished'),
  )
  expect(await bench.log.query(everything)).toMatchObject({ integrity: 'verified', total: 5 })
  expect(setAsideIn(bench.directory)).toContain('"seq":5')
})

const damages: Readonly<Record<string, (directory: string) => void>> = {
  'the signed head is gone': (directory) => fs.rmSync(path.join(directory, headFile)),
  'the public key is another': (directory) => {
    const file = path.join(directory, publicKeyFile)
    const pem = fs.readFileSync(file, 'utf8')
    fs.writeFileSync(file, pem.replace(/A/g, 'B'))
  },
  'a checkpoint is changed': (directory) => {
    const file = path.join(directory, checkpointsFile)
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('main\n5\n', 'main\n6\n'))
  },
}

test.each(Object.keys(damages))(
  '%s: found again by the start after one that ended while it told of it',
  async (what) => {
    const error = vi.fn<Log['error']>()
    await using bench = await openBench({ log: { ...silent, error } })
    await bench.fill(5)
    await bench.close()
    damages[what]?.(bench.directory)
    error.mockImplementationOnce(() => {
      throw new Error('killed')
    })
    await expect(bench.reopen()).rejects.toThrow('killed')
    await bench.reopen()
    expect(await bench.log.verify()).toMatchObject({ integrity: 'failed', kind: 'anchor_missing' })
    await bench.log.acknowledge('a bad sector')
    await bench.reopen()
    expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
  },
)
