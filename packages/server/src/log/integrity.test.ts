import fs from 'node:fs'
import path from 'node:path'
import type { AuditPage } from '@gatehouse/contract'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type Bench, openBench } from '../../test/kit/log-bench.ts'
import { createLinker } from '../domain/audit/chain.ts'
import { checkpointsFile } from './checkpoints.ts'
import { type LoggedEntry, macBytes } from './frame.ts'
import { hashing } from './hashing.ts'
import { parsePublicKey } from './keys.ts'
import { LogReader } from './log-files.ts'
import { readCheckpoints } from './note.ts'
import { setAsideFile } from './set-aside.ts'
import { headFile } from './signed-head.ts'
import { draft, everything, forgedFrame, frameAt, writeEntries } from './testing.ts'

const ask = (bench: Bench): Promise<AuditPage> => bench.log.query({ ...everything, limit: 5 })
const change = (entries: LoggedEntry[], seq: number, by: (body: string) => string): void => {
  const entry = entries[seq] as LoggedEntry
  entries[seq] = { ...entry, body: by(entry.body) }
}
/** How many entries were read from the files by whoever goes through them. */
const countedReads = () => {
  const entries = { count: 0 }
  const { frames } = LogReader.prototype
  const spy = vi.spyOn(LogReader.prototype, 'frames').mockImplementation(function* (
    this: LogReader,
    from,
  ) {
    for (const frame of frames.call(this, from)) {
      entries.count += frame.entries.length
      yield frame
    }
  })
  onTestFinished(() => spy.mockRestore())
  return { entries, read: () => entries.count }
}
const tamperWith = (bench: Bench, seq: number, by: (body: string) => string): void =>
  bench.tamper((entries) => change(entries, seq, by))
const idAt = (bench: Bench, seq: number): string =>
  (JSON.parse(bench.entries()[seq]?.body ?? '{}') as { id: string }).id

test('a query says that a log nobody touched is whole, again and again', async () => {
  await using bench = await openBench()
  expect(await ask(bench)).toMatchObject({ integrity: 'verified', verified_through: -1, total: 0 })
  await bench.fill(100)
  expect(await ask(bench)).toMatchObject({ integrity: 'verified', verified_through: 99 })
  await bench.fill(10)
  expect(await ask(bench)).toMatchObject({ integrity: 'verified', verified_through: 109 })
})

const sound = (entry: { seq: number; hash: string; body: string }, prev: string) =>
  createLinker(hashing).link(prev, entry.seq, entry.body)

/** Each changes the entries of 30, and says where that begins. */
/** A sound entry as it would come after the last one, of somebody who cannot seal it. */
const next = (last: LoggedEntry): LoggedEntry => {
  const seq = last.seq + 1
  const body = last.body.replace(`"seq":${last.seq}`, `"seq":${seq}`).replace(/aud-\w+/, 'aud-x')
  const entry = { ...last, seq, body }
  return { ...entry, hash: sound(entry, last.hash) }
}

const behindTheBack: Record<string, (entries: LoggedEntry[]) => { kind: string; seq: number }> = {
  'an entry that the page does not show is changed': (entries) => {
    change(entries, 7, (body) => body.replace('success', 'denied!'))
    return { kind: 'modified', seq: 7 }
  },
  'an entry is removed': (entries) => {
    entries.splice(9, 1)
    return { kind: 'missing', seq: 9 }
  },
  'the last entries are removed': (entries) => {
    entries.splice(20)
    return { kind: 'truncated', seq: 20 }
  },
  'an entry is doubled': (entries) => {
    entries.splice(12, 0, entries[11] as LoggedEntry)
    return { kind: 'inserted', seq: 11 }
  },
  'two entries change places': (entries) => {
    entries.splice(14, 2, entries[15] as LoggedEntry, entries[14] as LoggedEntry)
    return { kind: 'missing', seq: 14 }
  },
  'a sound entry is put in after the last': (entries) => {
    entries.push(next(entries[29] as LoggedEntry))
    return { kind: 'inserted', seq: 30 }
  },
  'an entry is changed and every later hash recomputed': (entries) => {
    change(entries, 11, (body) => body.replace('"success"', '"denied"'))
    for (let i = 11; i < 30; i++) {
      const entry = entries[i] as LoggedEntry
      entries[i] = { ...entry, hash: sound(entry, (entries[i - 1] as LoggedEntry).hash) }
    }
    return { kind: 'modified', seq: 11 }
  },
}

for (const [name, tamper] of Object.entries(behindTheBack)) {
  test(`the next query fails when ${name}`, async () => {
    await using bench = await openBench()
    await bench.fill(30)
    expect(await ask(bench)).toMatchObject({ integrity: 'verified' })
    let told = { kind: '', seq: -1 }
    bench.tamper((entries) => {
      told = tamper(entries)
    })
    const { kind, seq } = told
    expect(await ask(bench)).toMatchObject({ integrity: 'failed', kind, first_bad_seq: seq })
    expect(await bench.log.verify()).toMatchObject({ integrity: 'failed', kind })
    expect(bench.log.health()).toMatchObject({
      status: 'degraded',
      reason: expect.stringContaining('gatehouse audit acknowledge --reason'),
    })
  })
}

test('an entry that was changed is not handed out as if it were whole', async () => {
  await using bench = await openBench()
  await bench.fill(10)
  tamperWith(bench, 4, (body) => body.replace('.md', '.txt'))
  await expect(bench.log.find(idAt(bench, 4))).rejects.toMatchObject({ type: 'AuditDamaged' })
  expect(await bench.log.find(idAt(bench, 3))).toMatchObject({ seq: 3 })
})

test('a large log is read once, then as far as it grew, and from its start after a foreign change', async () => {
  await using bench = await openBench()
  await bench.fill(20_500)
  const { read, entries } = countedReads()
  expect((await ask(bench)).integrity).toBe('verified')
  expect(read()).toBe(20_500)
  entries.count = 0
  await bench.fill(5)
  expect(await ask(bench)).toMatchObject({ integrity: 'verified', verified_through: 20_504 })
  expect(read()).toBeLessThan(200)
  tamperWith(bench, 100, (body) => body.replace('success', 'denied!'))
  expect(await ask(bench)).toMatchObject({ integrity: 'failed', first_bad_seq: 100 })
})

test('whoever asks while a verification runs gets an answer that began after the question', async () => {
  await using bench = await openBench()
  await bench.fill(2_000)
  const early = ask(bench)
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
  tamperWith(bench, 0, (body) => body.replace('success', 'denied!'))
  expect((await ask(bench)).integrity).toBe('failed')
  await early
})

test('a removed head shows on the next query, and stays shown over a restart', async () => {
  await using bench = await openBench()
  await bench.fill(10)
  fs.rmSync(path.join(bench.directory, headFile))
  expect(await ask(bench)).toMatchObject({ integrity: 'failed', kind: 'anchor_missing' })
  await bench.reopen()
  await bench.fill(5)
  expect(await ask(bench)).toMatchObject({ integrity: 'failed', kind: 'anchor_missing' })
})

/** What somebody does behind the log's back, and a look at the log. */
const meddle = async (bench: Bench, act: () => void): Promise<void> => {
  act()
  await bench.log.find('aud-of-nobody')
}
const removeHead = (bench: Bench): void => fs.rmSync(path.join(bench.directory, headFile))

test('what is found while a transaction commits stays found, also over a restart', async () => {
  await using bench = await openBench()
  await bench.fill(10)
  bench.store.committing = () => meddle(bench, () => removeHead(bench))
  await bench.log.transaction(async (tx) => tx.append(draft({ kind: 'act' })))
  bench.store.committing = async () => undefined
  const found = { integrity: 'failed', kind: 'anchor_missing', total: 11 }
  expect(await ask(bench)).toMatchObject(found)
  await bench.reopen()
  expect(await ask(bench)).toMatchObject(found)
  expect((await bench.log.acknowledge('seen')).integrity).toBe('verified')
})

/** Writes behind the last entry what is no entry. */
const junk = 'of nobody'
const putBehind = ({ directory }: Bench, last: number, what: Uint8Array): void => {
  const { file, at, bytes } = frameAt(directory, last)
  const fd = fs.openSync(file, 'r+')
  fs.writeSync(fd, what, 0, what.length, at + bytes)
  fs.closeSync(fd)
}
const putJunk = (bench: Bench, last: number): void => putBehind(bench, last, Buffer.from(junk))
const putForged = (bench: Bench, last: number): void => {
  const entry = bench.entries()[last]
  if (entry) putBehind(bench, last, forgedFrame(next(entry)))
}

/** Each has the log write an entry after the files were looked at. */
const beingWritten: Record<string, (bench: Bench) => Promise<unknown>> = {
  'waits its turn': (bench) => {
    const written = bench.log.append(draft())
    return Promise.all([written, meddle(bench, () => putJunk(bench, 9))])
  },
  'is of a transaction that commits': async (bench) => {
    const looks: Promise<void>[] = []
    bench.store.committing = async () => {
      if (looks.length === 0) looks.push(meddle(bench, () => putJunk(bench, 9)))
    }
    await bench.log.transaction(async (tx) => tx.append(draft({ kind: 'act' })))
    await looks[0]
  },
}

for (const [name, write] of Object.entries(beingWritten)) {
  test(`an entry that ${name} while bytes of somebody else are taken out does not go with them`, async () => {
    await using bench = await openBench()
    await bench.fill(10)
    await write(bench)
    expect(bench.entries()).toHaveLength(11)
    expect(await bench.log.verify()).toMatchObject({ integrity: 'verified', verified_through: 10 })
    const kept = fs.readFileSync(path.join(bench.directory, setAsideFile), 'utf8')
    expect(kept).toContain(Buffer.from(junk).toString('base64'))
  })
}

test('nothing is written behind what somebody put there and cannot be taken out', async () => {
  await using bench = await openBench()
  await bench.fill(10)
  const blocked = path.join(bench.directory, setAsideFile)
  bench.store.committing = async () => {
    bench.store.committing = async () => undefined
    fs.mkdirSync(blocked)
    await meddle(bench, () => putForged(bench, 9))
  }
  const written = bench.log.transaction(async (tx) => tx.append(draft({ kind: 'act' })))
  await expect(written).rejects.toMatchObject({ type: 'AuditUnavailable' })
  await expect(bench.log.append(draft())).rejects.toMatchObject({ type: 'AuditUnavailable' })
  // With the forged one.
  expect(bench.entries()).toHaveLength(11)
  fs.rmdirSync(blocked)
  // With the entry of the change, which stands.
  await bench.log.append(draft())
  expect(bench.entries()).toHaveLength(12)
  expect(bench.entries().map(({ body }) => body)).not.toContainEqual(
    expect.stringContaining('aud-x'),
  )
  expect(fs.readFileSync(blocked, 'utf8')).toContain('aud-x')
  expect(await bench.log.verify()).toMatchObject({
    integrity: 'failed',
    kind: 'inserted',
    first_bad_seq: 10,
  })
})

const whileStopped: Record<string, (bench: Bench) => string> = {
  'the last entries are removed': (bench) => {
    bench.tamper((entries) => void entries.splice(25))
    return 'truncated'
  },
  'the head is removed': (bench) => {
    fs.rmSync(path.join(bench.directory, headFile))
    return 'anchor_missing'
  },
  'all entries are removed': (bench) => {
    bench.tamper((entries) => void entries.splice(0))
    return 'truncated'
  },
  'entries and head are removed': (bench) => {
    bench.tamper((entries) => void entries.splice(0))
    fs.rmSync(path.join(bench.directory, headFile))
    return 'truncated'
  },
  'the last entry is changed': (bench) => {
    bench.tamper((entries) => {
      entries[29] = { ...(entries[29] as LoggedEntry), hash: (entries[28] as LoggedEntry).hash }
    })
    return 'modified'
  },
  'line ends stand in place of the end of an entry': (bench) => {
    const place = frameAt(bench.directory, 29)
    const content = fs.readFileSync(place.file)
    const end = place.at + place.bytes - macBytes
    fs.writeFileSync(place.file, content.fill('\n', end - 40, end))
    return 'modified'
  },
  'the signing key is replaced': (bench) => {
    fs.rmSync(path.join(bench.directory, 'audit.key'))
    return 'anchor_missing'
  },
}

for (const [name, tamper] of Object.entries(whileStopped)) {
  test(`when ${name} while it is stopped, the service says so until it is acknowledged`, async () => {
    await using bench = await openBench()
    await bench.fill(30)
    await bench.close()
    const kind = tamper(bench)
    await bench.reopen()
    expect(await ask(bench)).toMatchObject({ integrity: 'failed', kind })
    await bench.fill(3)
    await bench.reopen()
    expect(await ask(bench)).toMatchObject({ integrity: 'failed', kind })

    const by = { actor: 'user:ana', request_id: 'req-9' }
    expect(await bench.log.acknowledge('restored from a backup', by)).toMatchObject({
      integrity: 'verified',
    })
    const [entry] = (await ask(bench)).entries
    expect(entry).toMatchObject({
      capability: 'audit.acknowledged',
      actor: 'user:ana',
      arguments: { reason: 'restored from a backup' },
      detail: { kind },
    })
    await bench.fill(3)
    await bench.reopen()
    await bench.fill(3)
    expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
    expect(bench.log.health()).toMatchObject({ status: 'healthy' })
  })
}

test('log and head put back together are found by the checkpoint that is left', async () => {
  await using bench = await openBench()
  await bench.fill(10)
  await bench.close()
  const head = fs.readFileSync(path.join(bench.directory, headFile))
  const entries = bench.entries()
  await bench.reopen()
  await bench.fill(10)
  await bench.close()
  fs.writeFileSync(path.join(bench.directory, headFile), head)
  writeEntries(bench.directory, entries)
  await bench.reopen()
  expect(await ask(bench)).toMatchObject({
    integrity: 'failed',
    kind: 'truncated',
    first_bad_seq: 10,
    detail: '10 entries are gone that checkpoint 20 was made over',
  })
  await bench.fill(20)
  expect((await bench.log.acknowledge('we restored a backup')).integrity).toBe('verified')
  await bench.reopen()
  expect((await bench.log.verify()).integrity).toBe('verified')
  // The other tree has another name, so that no checkpoint contradicts an earlier one.
  const notes = fs.readFileSync(path.join(bench.directory, checkpointsFile), 'utf8')
  expect(notes).toContain('gatehouse/audit/main\n20\n')
  expect(notes).toMatch(/gatehouse\/audit\/main\/1\n\d+\n/)
})

test('what was acknowledged may not change again', async () => {
  await using bench = await openBench()
  await bench.fill(30)
  tamperWith(bench, 7, (body) => body.replace('success', 'denied!'))
  expect((await bench.log.acknowledge('seen')).integrity).toBe('verified')
  expect((await bench.log.verify()).integrity).toBe('verified')
  tamperWith(bench, 7, (body) => body.replace('denied!', 'pending'))
  expect(await bench.log.verify()).toMatchObject({ integrity: 'failed', first_bad_seq: 7 })
})

test('what is found while a person acknowledges something else is still to be acknowledged', async () => {
  await using bench = await openBench()
  await bench.fill(30)
  tamperWith(bench, 7, (body) => body.replace('success', 'denied!'))
  bench.store.before = () => {
    bench.store.before = () => undefined
    void meddle(bench, () => removeHead(bench))
  }
  expect(await bench.log.acknowledge('seen')).toMatchObject({
    integrity: 'failed',
    kind: 'anchor_missing',
  })
  expect((await bench.log.acknowledge('seen as well')).integrity).toBe('verified')
})

test('so is what is found beside another finding that a person acknowledges', async () => {
  await using bench = await openBench()
  await bench.fill(30)
  await meddle(bench, () => removeHead(bench))
  bench.store.before = () => {
    // The entry that says so is in the log.
    if (bench.entries().length < 31) return
    bench.store.before = () => undefined
    void meddle(bench, () => putForged(bench, 30))
  }
  expect(await bench.log.acknowledge('seen')).toMatchObject({
    integrity: 'failed',
    kind: 'inserted',
  })
  expect((await bench.log.acknowledge('seen as well')).integrity).toBe('verified')
})

test('a log that is longer than its head is taken in where this service sealed it', async () => {
  await using bench = await openBench()
  await bench.fill(10)
  const head = fs.readFileSync(path.join(bench.directory, headFile))
  await bench.fill(3)
  await bench.close()
  fs.writeFileSync(path.join(bench.directory, headFile), head)
  fs.rmSync(path.join(bench.directory, checkpointsFile))
  await bench.reopen()
  expect(await ask(bench)).toMatchObject({ integrity: 'verified', verified_through: 12 })
})

test('starts from the head without hashing the log', async () => {
  await using bench = await openBench()
  await bench.fill(5_000)
  await bench.close()
  const { read } = countedReads()
  await bench.reopen()
  expect(read()).toBeLessThan(200)
  expect((await bench.log.append(draft())).seq).toBe(5_000)
})

test('checkpoints are signed every so many entries, after a while, and at the end', async () => {
  await using bench = await openBench({ checkpoint: { everyEntries: 100 } })
  const sizes = () => {
    const notes = fs.readFileSync(path.join(bench.directory, checkpointsFile), 'utf8')
    const key = parsePublicKey(fs.readFileSync(path.join(bench.directory, 'audit.pub'), 'utf8'), '')
    return readCheckpoints(notes, key).map((checkpoint) => checkpoint.size)
  }
  await bench.fill(128)
  await expect.poll(sizes).toEqual([128])
  await bench.fill(1)
  bench.clock.move(60_000)
  await expect.poll(sizes).toEqual([128, 129])
  await bench.fill(1)
  await bench.close()
  expect(sizes()).toEqual([128, 129, 130])
  expect(fs.readFileSync(path.join(bench.directory, checkpointsFile), 'utf8')).toMatch(
    /^gatehouse\/audit\/main\n128\n[A-Za-z0-9+/]{43}=\n\n— gatehouse\/audit\/main /,
  )
})
