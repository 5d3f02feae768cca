import fs from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openBench } from '../../test/kit/log-bench.ts'
import { emptyLog } from '../domain/audit/chain.ts'
import { seqMax } from '../domain/audit/row.ts'
import { copiesOf, entriesOf, sealerOf, verifierOf } from './chain-verifier.ts'
import { loadKeys } from './keys.ts'
import { LogReader } from './log-files.ts'
import { draft, frameAt } from './testing.ts'
import { digestLog } from './verify-chain.ts'

const { signal } = new AbortController()

type Copy = { readonly seq: number; readonly hash: string; readonly body: string }

/** Copies in a store, and what was asked of it. */
const copiesWith = (all: readonly Copy[]) => {
  const asked: [string, number, number][] = []
  return {
    asked,
    async read(chain: string, from: number, limit: number) {
      asked.push([chain, from, limit])
      return all.filter(({ seq }) => seq >= from).slice(0, limit)
    },
  }
}

const copyOf = (seq: number): Copy => ({ seq, hash: `h${seq}`, body: `{"seq":${seq}}` })

const seqsOf = async (groups: AsyncIterable<readonly { readonly seq: number }[]>) => {
  const found: number[][] = []
  for await (const group of groups) found.push(group.map(({ seq }) => seq))
  return found
}

/** A log of 20 entries in two segments of files, and a reader of it. */
const openLog = async () => {
  const bench = await openBench()
  onTestFinished(() => bench[Symbol.asyncDispose]())
  for (let i = 0; i < 4; i += 1) await bench.fill(5)
  await bench.close()
  return { bench, files: new LogReader(bench.directory), keys: loadKeys(bench.directory) }
}

test('copies are read slice by slice to their end, without a seal, and not behind the last number there is', async () => {
  const all = Array.from({ length: 1_100 }, (_, seq) => copyOf(seq))
  const copies = copiesWith(all)
  const groups = await seqsOf(copiesOf(copies, 'other', 3))
  expect(groups.map((group) => [group[0], group.length])).toEqual([
    [3, 512],
    [515, 512],
    [1_027, 73],
  ])
  expect(copies.asked).toEqual([
    ['other', 3, 512],
    ['other', 515, 512],
    ['other', 1_027, 512],
    ['other', 1_100, 512],
  ])
  for await (const [first] of copiesOf(copies, 'other', 1_099))
    expect(first).toEqual({ ...copyOf(1_099), seal: '' })
  const last = copiesWith([copyOf(seqMax - 1), copyOf(seqMax), copyOf(seqMax + 1)])
  expect(await seqsOf(copiesOf(last, 'other', 0))).toHaveLength(1)
  expect(last.asked).toHaveLength(1)
  expect(await seqsOf(copiesOf(copiesWith([]), 'other', 0))).toEqual([])
})

test('entries of this process come from its files, and those of others from the copies', async () => {
  const { files } = await openLog()
  const copies = copiesWith([copyOf(0), copyOf(1)])
  const entries = entriesOf(files, copies, 'main')
  const own: number[] = []
  for await (const group of entries('main', 18)) own.push(...group.map(({ seq }) => seq))
  expect(own).toEqual([18, 19])
  expect(copies.asked).toEqual([])
  const others: string[] = []
  for await (const group of entries('other', 1)) others.push(...group.map(({ hash }) => hash))
  expect(others).toEqual(['h1'])
})

test('a log is verified with its files, its seals and, of others, their copies alone', async () => {
  const { bench, files, keys } = await openLog()
  const copies = copiesWith(bench.entries().map(({ seq, hash, body }) => ({ seq, hash, body })))
  const verifier = verifierOf(files, copies, keys, 'main')
  const question = { chain: 'main', from: emptyLog, tree: true, anchors: [] }
  const found = await verifier.verify(question, signal)
  expect(found).toMatchObject({ fault: null, state: { size: 20 } })
  const half = copiesWith(bench.entries().slice(0, 10))
  const others = verifierOf(files, half, keys, 'main')
  expect(await others.verify({ ...question, chain: 'other' }, signal)).toMatchObject({
    ...{ fault: null, state: { size: 10 } },
  })
  const aborted = AbortSignal.abort(new Error('it stops'))
  const many = verifierOf(
    files,
    copiesWith(Array.from({ length: 600 }, (_, seq) => copyOf(seq))),
    null,
    'main',
  )
  await expect(many.digest('other', 600, aborted)).rejects.toThrow('it stops')

  // Of its own log what lies between the entries is part of the digest.
  const { file, at } = frameAt(bench.directory, 10)
  const bytes = fs.readFileSync(file)
  const strangers = Buffer.from('somebody was here')
  fs.writeFileSync(file, Buffer.concat([bytes.subarray(0, at), strangers, bytes.subarray(at)]))
  const changed = verifierOf(new LogReader(bench.directory), copies, keys, 'main')
  const own = await changed.digest('main', 21, signal)
  expect(own.all).not.toBe(own.entries)
  const copied = await changed.digest('other', 21, signal)
  expect(copied.all).toBe(copied.entries)
  expect(copied.entries).toBe(own.entries)
  const entries = entriesOf(files, copies, 'main')
  expect(copied).toEqual(await digestLog({ entries }, 'other', 20))

  // A seal that is not of this service is a fault of its entry; copies have none.
  const strange = verifierOf(files, copies, { ...keys, seal: () => 'strange' }, 'main')
  expect((await strange.verify({ ...question, through: 20 }, signal)).fault).toMatchObject({
    kind: 'modified',
    seq: 0,
    detail: 'the seal of the entry is not of this service',
  })
})

test('copies of this log are compared with it', async () => {
  const { bench, files, keys } = await openLog()
  const all = bench.entries().map(({ seq, hash, body }) => ({ seq, hash, body }))
  const asked = { chain: 'main', through: 20 }
  const of = (copies: readonly Copy[]) => verifierOf(files, copiesWith(copies), keys, 'main')
  expect(await of(all).checkCopies(asked, signal)).toBeNull()
  const changed = all.map((copy) => (copy.seq === 7 ? { ...copy, body: '{}' } : copy))
  expect(await of(changed).checkCopies(asked, signal)).toMatchObject({ seq: 7 })
  const stopped = of(all).checkCopies(asked, AbortSignal.abort(new Error('it stops')))
  await expect(stopped).rejects.toThrow('it stops')
})

test('parts of a long log are verified by helpers, where there are any', async () => {
  const bench = await openBench({ checkpoint: { everyEntries: 100 } })
  onTestFinished(() => bench[Symbol.asyncDispose]())
  const entry = draft({ arguments: { text: 'x'.repeat(700) } })
  for (let i = 0; i < 60; i += 1)
    await Promise.all(Array.from({ length: 30 }, () => bench.log.append(entry)))
  await bench.close()
  const files = new LogReader(bench.directory)
  expect(files.files.length).toBeGreaterThan(1)
  let parts = 0
  const plain = verifierOf(files, copiesWith([]), null, 'main')
  const helper = {
    ...plain,
    verify(...given: Parameters<typeof plain.verify>) {
      parts += 1
      return plain.verify(...given)
    },
  }
  const question = { chain: 'main', from: emptyLog, tree: false, anchors: [], through: 1_800 }
  const found = await verifierOf(files, copiesWith([]), null, 'main', [helper, helper]).verify(
    question,
    signal,
  )
  expect(found).toMatchObject({ fault: null, state: { size: 1_800 } })
  expect(parts).toBe(files.files.length - 1)
  const alone = await plain.verify(question, signal)
  expect(alone.state.head).toBe(found.state.head)
})

test('seals can be checked where the keys of the log are, and nowhere else', async () => {
  const { bench, keys } = await openLog()
  expect(sealerOf(bench.directory)?.seal('ab'.repeat(32))).toBe(keys.seal('ab'.repeat(32)))
  fs.rmSync(path.join(bench.directory, 'audit.key'))
  expect(sealerOf(bench.directory)).toBeNull()
  fs.rmSync(path.join(bench.directory, 'audit.pub'))
  expect(sealerOf(bench.directory)).toBeNull()
  fs.writeFileSync(path.join(bench.directory, 'audit.pub'), 'no key')
  expect(() => sealerOf(bench.directory)).toThrow('audit.pub')
})
