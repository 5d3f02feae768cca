import fs from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { type Bench, openBench } from '../../test/kit/log-bench.ts'
import { createLinker } from '../domain/audit/chain.ts'
import { idOf } from '../domain/audit/verify-range.ts'
import type { LoggedEntry } from './frame.ts'
import { hashing } from './hashing.ts'
import { type OfflineReport, verifyOffline } from './offline.ts'
import { headFile } from './signed-head.ts'
import { writeEntries } from './testing.ts'

// GATEHOUSE_FULL=1 runs the whole of it; every run covers each kind of mutation many times.
const full = process.env['GATEHOUSE_FULL'] === '1'
const [entries, rounds] = full ? [10_000, 1_000] : [1_500, 120]

type Row = { -readonly [K in keyof LoggedEntry]: LoggedEntry[K] }
type Expected = { readonly seq: number; readonly id: string | undefined }

const idIn = (row: Row | undefined): string | undefined => (row && idOf(row)) ?? undefined

/** A small generator with a seed, so that a failure can be repeated. */
const random = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const flip = (text: string, at: number): string => {
  const code = text.charCodeAt(at) ^ 1
  return text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1)
}

const renumber = (rows: Row[], from: number): void => {
  for (let i = from; i < rows.length; i++) (rows[i] as Row).seq = i
}

const rebuild = (rows: Row[], from: number): void => {
  const linker = createLinker(hashing)
  let prev = from === 0 ? '0'.repeat(64) : (rows[from - 1] as Row).hash
  for (const row of rows.slice(from)) {
    row.hash = linker.link(prev, row.seq, row.body)
    prev = row.hash
  }
}

const at = (rows: Row[], i: number): Expected => ({ seq: i, id: idIn(rows[i]) })

/** Each changes rows that are its own, and says what must be named. `i` is neither first nor last. */
const mutations: Record<
  string,
  (rows: Row[], i: number, below: (n: number) => number) => Expected
> = {
  'a bit of a body': (rows, i, below) => {
    const row = rows[i] as Row
    row.body = flip(row.body, below(row.body.length))
    return at(rows, i)
  },
  'a bit of a hash': (rows, i, below) => {
    const row = rows[i] as Row
    row.hash = flip(row.hash, below(64))
    return at(rows, i)
  },
  'a bit of a seal': (rows, i, below) => {
    const row = rows[i] as Row
    row.seal = flip(row.seal, below(row.seal.length))
    return at(rows, i)
  },
  'two entries swapped': (rows, i, below) => {
    const j = i + 1 + below(rows.length - i - 1)
    const [a, b] = [rows[i] as Row, rows[j] as Row]
    rows[i] = b
    rows[j] = a
    renumber(rows, 0)
    return at(rows, i)
  },
  'an entry dropped': (rows, i) => {
    rows.splice(i, 1)
    return { seq: i, id: idIn(rows[i]) }
  },
  'an entry dropped, the rest renumbered': (rows, i) => {
    rows.splice(i, 1)
    renumber(rows, i)
    return at(rows, i)
  },
  'a copy put in': (rows, i) => {
    rows.splice(i, 0, { ...(rows[i - 1] as Row) })
    renumber(rows, i)
    return at(rows, i)
  },
  'a forged entry put in': (rows, i) => {
    const row = rows[i] as Row
    const id = `aud-${'z'.repeat(26)}`
    rows.splice(i, 0, { ...row, body: row.body.replace(idIn(row) ?? '', id) })
    renumber(rows, i)
    return at(rows, i)
  },
  'the tail cut': (rows, i) => {
    rows.splice(i)
    return { seq: i, id: idIn(rows[i - 1]) }
  },
  'a sound entry behind the last one': (rows) => {
    const [last, i] = [rows.at(-1) as Row, rows.length]
    const id = `aud-${'z'.repeat(26)}`
    const body = last.body.replace(idIn(last) ?? '', id).replace(`"seq":${i - 1}`, `"seq":${i}`)
    rows.push({ ...last, seq: i, body })
    rebuild(rows, i)
    return at(rows, i)
  },
  'an entry changed and every hash after it recomputed': (rows, i) => {
    const row = rows[i] as Row
    row.body = row.body.replace('"result":"success"', '"result":"denied"')
    rebuild(rows, i)
    return at(rows, i)
  },
}

const verify = (bench: Bench, rows: readonly Row[]): Promise<OfflineReport> => {
  writeEntries(bench.directory, rows)
  return verifyOffline({ directory: bench.directory })
}

test(`L02: finds each of ${rounds} random mutations of ${entries} entries and names the first bad one`, {
  timeout: full ? 7_200_000 : 300_000,
}, async () => {
  await using bench = await openBench()
  await bench.fill(entries)
  await bench.close()
  const sound = bench.entries()
  const untouched = await verify(bench, sound)
  expect(untouched).toMatchObject({ integrity: 'verified', entries, kind: 'unanchored' })
  const below = random(20_260_101)
  const names = Object.keys(mutations)
  for (let round = 0; round < rounds; round++) {
    const name = names[round % names.length] as string
    const rows = sound.map((row) => ({ ...row }))
    const i = 1 + below(entries - 2)
    const expected = mutations[name]?.(rows, i, below)
    const { integrity, first_bad_seq, first_bad_id } = await verify(bench, rows)
    expect({ name, i, integrity, first_bad_seq, first_bad_id }).toEqual({
      name,
      i,
      integrity: 'failed',
      first_bad_seq: expected?.seq,
      first_bad_id: expected?.id,
    })
  }
})

test('L03: finds a signed head that is gone or altered', async () => {
  await using bench = await openBench()
  await bench.fill(50)
  await bench.close()
  const file = path.join(bench.directory, headFile)
  const head = fs.readFileSync(file, 'latin1')
  const sound = bench.entries()
  fs.writeFileSync(
    file,
    head.replaceAll('"size":50', '"size":49').replaceAll('"size":0', '"size":1'),
    'latin1',
  )
  expect(await verify(bench, sound)).toMatchObject({ kind: 'anchor_missing' })
  fs.rmSync(file)
  expect(await verify(bench, sound)).toMatchObject({ kind: 'anchor_missing' })
  fs.writeFileSync(file, head, 'latin1')
  expect(await verify(bench, sound)).toMatchObject({ integrity: 'verified' })
})
