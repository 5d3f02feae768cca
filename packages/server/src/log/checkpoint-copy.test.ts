import fs from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterTurns } from '@gatehouse/testkit/after-turns'
import { expect, onTestFinished, test } from 'vitest'
import { type Bench, openBench } from '../../test/kit/log-bench.ts'
import type { Log } from '../ports/log.ts'
import { type CheckpointCopy, openCheckpointCopy } from './checkpoint-copy.ts'
import { checkpointsFile } from './checkpoints.ts'
import { setAsideFile } from './set-aside.ts'
import { everything } from './testing.ts'

const elsewhere = (): string => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-elsewhere-'))
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  return folder
}

/** Keeps the data as they are now; the returned function puts them back. */
const keep = (bench: Bench): (() => Promise<void>) => {
  const kept = path.join(elsewhere(), 'audit')
  fs.cpSync(bench.directory, kept, { recursive: true })
  return async () => {
    fs.rmSync(bench.directory, { recursive: true })
    fs.cpSync(kept, bench.directory, { recursive: true })
  }
}

const rollBack = async (copy: string | null) => {
  const bench = await openBench({ checkpoint: { copy } })
  await bench.fill(40)
  await bench.close()
  const putBack = keep(bench)
  await bench.reopen()
  await bench.fill(60)
  await bench.close()
  await putBack()
  await bench.reopen()
  return bench
}

test('a data directory that was put back as one is found by the copy, and by nothing else', async () => {
  await using unseen = await rollBack(null)
  expect(await unseen.log.query(everything)).toMatchObject({ integrity: 'verified' })
  await using seen = await rollBack(path.join(elsewhere(), 'checkpoints.log'))
  expect(await seen.log.query(everything)).toMatchObject({
    integrity: 'failed',
    kind: 'truncated',
    detail: '60 entries are gone that checkpoint 100 was made over',
  })
})

test('what stands behind a torn note is read again', async () => {
  const copy = path.join(elsewhere(), 'checkpoints.log')
  fs.writeFileSync(copy, 'gatehouse/audit/main\n12\nhalfOfARoot')
  await using bench = await rollBack(copy)
  expect(await bench.log.query(everything)).toMatchObject({ kind: 'truncated' })
})

test('the copy is byte for byte what was signed, over several starts', async () => {
  const copy = path.join(elsewhere(), 'checkpoints.log')
  await using bench = await openBench({ checkpoint: { copy } })
  for (let start = 0; start < 3; start++) {
    await bench.fill(3)
    await bench.reopen()
  }
  await bench.close()
  const own = fs.readFileSync(path.join(bench.directory, checkpointsFile), 'utf8')
  expect(own).not.toBe('')
  expect(fs.readFileSync(copy, 'utf8')).toBe(own)
})

test('a copy that is away degrades health with its remedy, and gets what it missed', async () => {
  const folder = path.join(elsewhere(), 'not-mounted')
  const copy = path.join(folder, 'checkpoints.log')
  await using bench = await openBench({ checkpoint: { copy, everyEntries: 10 } })
  await bench.fill(10)
  await expect
    .poll(() => bench.log.health())
    .toMatchObject({
      status: 'degraded',
      reason: expect.stringMatching(/cannot be copied to .*ENOENT.*audit\.checkpoint_copy/),
    })
  expect(await bench.log.query(everything)).toMatchObject({ integrity: 'verified' })
  fs.mkdirSync(folder)
  await bench.fill(10)
  await expect.poll(() => bench.log.health()).toMatchObject({ status: 'healthy' })
  await bench.close()
  const own = fs.readFileSync(path.join(bench.directory, checkpointsFile), 'utf8')
  expect(fs.readFileSync(copy, 'utf8')).toBe(own)
})

test('damage in the copy is reported and moved aside, and what other nodes wrote there stays', async () => {
  const copy = path.join(elsewhere(), 'checkpoints.log')
  await using bench = await openBench({ checkpoint: { copy, everyEntries: 3 } })
  for (let i = 0; i < 4; i += 1) {
    await bench.fill(3)
    await bench.log.verify()
  }
  await bench.close()
  await using other = await openBench({ chain: 'node-2', checkpoint: { copy } })
  await other.fill(3)
  await other.close()
  await bench.reopen()
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
  await bench.close()
  const good = fs.readFileSync(copy, 'utf8')
  fs.writeFileSync(copy, good.replace('main\n6\n', 'main\n7\n'))
  await bench.reopen()
  const found = {
    integrity: 'failed',
    kind: 'anchor_missing',
    detail: expect.stringContaining(copy) as string,
  }
  expect(await bench.log.verify()).toMatchObject(found)
  expect(fs.readFileSync(path.join(bench.directory, setAsideFile), 'utf8')).toContain('main\\n7\\n')
  expect(await bench.log.acknowledge('a bad sector')).toMatchObject({ integrity: 'verified' })
  await bench.reopen()
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
  await bench.close()
  const left = fs.readFileSync(copy, 'utf8')
  expect(left).toContain('gatehouse/audit/node-2\n3\n')
  expect(left).not.toContain('main\n7\n')
})

const noLog = { error: () => undefined } as unknown as Log

/** What a new copy holds into which these notes were put at once. */
const copied = async (
  notes: readonly string[],
  meanwhile?: (copy: CheckpointCopy) => Promise<void>,
) => {
  const copy = openCheckpointCopy(path.join(elsewhere(), 'checkpoints.log'), noLog)
  if (!copy) throw new Error('there is no copy')
  for (const note of notes) copy.add(`${note}\n`)
  await meanwhile?.(copy)
  await copy[Symbol.asyncDispose]()
  return fs.readFileSync(copy.file, 'utf8').split('\n\n').slice(0, -1)
}

test('no note is lost while another is written, however many wait', async () => {
  const notes = Array.from({ length: 20_001 }, (_, at) => String(at))
  expect(await copied(notes)).toEqual(notes)
})

test('a note that comes in whichever turn the last one was written is written as well', async () => {
  const some = await open(path.join(elsewhere(), 'some'), 'w')
  await some.close()
  const handles = Object.getPrototypeOf(some) as FileHandle
  const dispose = handles[Symbol.asyncDispose]
  onTestFinished(() => {
    handles[Symbol.asyncDispose] = dispose
  })
  for (let turns = 0; turns < 12; turns += 1) {
    const addInTime = (copy: CheckpointCopy) =>
      new Promise<void>((added) => {
        handles[Symbol.asyncDispose] = function () {
          handles[Symbol.asyncDispose] = dispose
          const closed = dispose.call(this)
          void afterTurns(closed, turns, () => {
            copy.add('second\n')
            added()
          })
          return closed
        }
      })
    const notes = await copied(['first'], addInTime)
    expect([turns, ...notes]).toEqual([turns, 'first', 'second'])
  }
})
