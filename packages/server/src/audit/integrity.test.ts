import fs from 'node:fs'
import path from 'node:path'
import type { AuditPage } from '@gatehouse/contract'
import { expect, test } from 'vitest'
import { createLinker, genesis } from '../domain/audit/chain.ts'
import { checkpointsFile } from './checkpoints.ts'
import { hashing } from './hashing.ts'
import { parsePublicKey } from './keys.ts'
import { markFile } from './mark.ts'
import { readCheckpoints } from './note.ts'
import { type Bench, draft, everything, openBench } from './testing.ts'

const ask = (bench: Bench): Promise<AuditPage> => bench.log.query({ ...everything, limit: 5 })
const row = (bench: Bench, seq: number) => {
  const found = bench.store.rows[seq]
  if (!found) throw new Error(`no row ${seq}`)
  return found
}

test('a query says that a log nobody touched is whole, again and again', async () => {
  await using bench = await openBench()
  expect(await ask(bench)).toMatchObject({ integrity: 'verified', verified_through: -1, total: 0 })
  await bench.fill(100)
  expect(await ask(bench)).toMatchObject({ integrity: 'verified', verified_through: 99 })
  await bench.fill(10)
  expect(await ask(bench)).toMatchObject({ integrity: 'verified', verified_through: 109 })
})

const behindTheBack: Record<string, (bench: Bench) => { kind: string; seq: number }> = {
  'an entry that the page does not show is changed': (bench) => {
    row(bench, 7).body = row(bench, 7).body.replace('success', 'denied!')
    return { kind: 'modified', seq: 7 }
  },
  'a column is changed': (bench) => {
    row(bench, 8).agent = 'other'
    return { kind: 'modified', seq: 8 }
  },
  'an entry is removed': (bench) => {
    bench.store.rows.splice(9, 1)
    return { kind: 'missing', seq: 9 }
  },
  'the last entries are removed': (bench) => {
    bench.store.rows.splice(20)
    return { kind: 'truncated', seq: 20 }
  },
  'an entry is put in before the first': (bench) => {
    bench.store.rows.unshift({ ...row(bench, 0), seq: -1, id: 'aud-x' })
    return { kind: 'inserted', seq: -1 }
  },
  'a sound entry is put in after the last': (bench) => {
    const last = row(bench, 29)
    const body = last.body.replace('"seq":29', '"seq":30').replace(last.id, 'aud-x')
    const hash = createLinker(hashing).link(last.hash, 30, body)
    bench.store.rows.push({ ...last, seq: 30, id: 'aud-x', body, hash })
    return { kind: 'inserted', seq: 30 }
  },
  'a whole chain is put beside': (bench) => {
    const first = row(bench, 0)
    const body = first.body.replace('"main"', '"shadow"').replace(first.id, 'aud-x')
    const hash = createLinker(hashing).link(genesis, 0, body)
    bench.store.rows.push({ ...first, chain: 'shadow', id: 'aud-x', body, hash })
    return { kind: 'inserted', seq: 0 }
  },
  'an entry is changed and every later hash recomputed': (bench) => {
    const linker = createLinker(hashing)
    row(bench, 11).body = row(bench, 11).body.replace('"success"', '"denied"')
    row(bench, 11).result = 'denied'
    for (let i = 11; i < 30; i++) {
      row(bench, i).hash = linker.link(row(bench, i - 1).hash, i, row(bench, i).body)
    }
    return { kind: 'modified', seq: 11 }
  },
}

for (const [name, tamper] of Object.entries(behindTheBack)) {
  test(`the next query fails when ${name}`, async () => {
    await using bench = await openBench()
    await bench.fill(30)
    expect(await ask(bench)).toMatchObject({ integrity: 'verified' })
    const { kind, seq } = tamper(bench)
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
  row(bench, 4).body = row(bench, 4).body.replace('.md', '.txt')
  await expect(bench.log.find(row(bench, 4).id)).rejects.toMatchObject({ type: 'AuditDamaged' })
  expect(await bench.log.find(row(bench, 3).id)).toMatchObject({ seq: 3 })
})

test('a large log is read once, then as far as it grew, and whole again after a foreign change', async () => {
  await using bench = await openBench()
  await bench.fill(20_500)
  let read = 0
  const { range } = bench.store.auditRows
  Object.assign(bench.store.auditRows, {
    range: async (...args: Parameters<typeof range>) => {
      const rows = await range(...args)
      read += rows.length
      return rows
    },
  })
  expect((await ask(bench)).integrity).toBe('verified')
  expect(read).toBeGreaterThan(20_500)
  read = 0
  await bench.fill(5)
  expect(await ask(bench)).toMatchObject({ integrity: 'verified', verified_through: 20_504 })
  expect(read).toBeLessThan(50)
  row(bench, 100).result = 'denied'
  bench.store.touched = true
  expect(await ask(bench)).toMatchObject({ integrity: 'failed', first_bad_seq: 100 })
})

test('whoever asks while a verification runs gets an answer that began after the question', async () => {
  await using bench = await openBench()
  await bench.fill(2_000)
  const early = ask(bench)
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
  await new Promise((resolve) => setImmediate(resolve))
  row(bench, 0).result = 'denied'
  expect((await ask(bench)).integrity).toBe('failed')
  await early
})

test('a removed mark shows on the next query, and stays shown over a restart', async () => {
  await using bench = await openBench()
  await bench.fill(10)
  fs.rmSync(path.join(bench.directory, markFile))
  expect(await ask(bench)).toMatchObject({ integrity: 'failed', kind: 'anchor_missing' })
  await bench.reopen()
  await bench.fill(5)
  expect(await ask(bench)).toMatchObject({ integrity: 'failed', kind: 'anchor_missing' })
})

const whileStopped: Record<string, (bench: Bench) => string> = {
  'the last entries are removed': (bench) => {
    bench.store.rows.splice(25)
    return 'truncated'
  },
  'the mark is removed': (bench) => {
    fs.rmSync(path.join(bench.directory, markFile))
    return 'anchor_missing'
  },
  'the whole log is removed': (bench) => {
    bench.store.rows = []
    return 'truncated'
  },
  'log and mark are removed': (bench) => {
    bench.store.rows = []
    fs.rmSync(path.join(bench.directory, markFile))
    return 'truncated'
  },
  'the last entry is changed': (bench) => {
    row(bench, 29).hash = row(bench, 28).hash
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

test('log and mark put back together are found by the checkpoint that is left', async () => {
  await using bench = await openBench()
  await bench.fill(10)
  await bench.close()
  const mark = fs.readFileSync(path.join(bench.directory, markFile))
  const [rows, meta] = [[...bench.store.rows], new Map(bench.store.meta)]
  await bench.reopen()
  await bench.fill(10)
  await bench.close()
  fs.writeFileSync(path.join(bench.directory, markFile), mark)
  bench.store.rows = rows
  bench.store.meta = meta
  await bench.reopen()
  expect(await ask(bench)).toMatchObject({
    integrity: 'failed',
    kind: 'truncated',
    first_bad_seq: 10,
    detail: '10 entries under checkpoint 20 are gone',
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
  row(bench, 7).body = row(bench, 7).body.replace('success', 'denied!')
  expect((await bench.log.acknowledge('seen')).integrity).toBe('verified')
  expect((await bench.log.verify()).integrity).toBe('verified')
  row(bench, 7).body = row(bench, 7).body.replace('denied!', 'pending')
  expect(await bench.log.verify()).toMatchObject({ integrity: 'failed', first_bad_seq: 7 })
})

test('a log that is longer than its mark is taken in where it verifies', async () => {
  await using bench = await openBench()
  await bench.fill(10)
  const mark = fs.readFileSync(path.join(bench.directory, markFile))
  await bench.fill(3)
  await bench.close()
  fs.writeFileSync(path.join(bench.directory, markFile), mark)
  fs.rmSync(path.join(bench.directory, checkpointsFile))
  await bench.reopen()
  expect(await ask(bench)).toMatchObject({ integrity: 'verified', verified_through: 12 })
})

test('starts from the mark without reading the log', async () => {
  await using bench = await openBench()
  await bench.fill(5_000)
  await bench.close()
  let read = 0
  const { range } = bench.store.auditRows
  Object.assign(bench.store.auditRows, {
    range: async (...args: Parameters<typeof range>) => {
      const rows = await range(...args)
      read += rows.length
      return rows
    },
  })
  await bench.reopen()
  expect(read).toBeLessThan(5)
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
