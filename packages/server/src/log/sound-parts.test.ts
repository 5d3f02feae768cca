import fs from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { type Bench, openBench } from '../../test/kit/log-bench.ts'
import { emptyLog } from '../domain/audit/chain.ts'
import { checkpointsFile, readCheckpointFile } from './checkpoints.ts'
import { parsePublicKey, publicKeyFile, sealerBeside } from './keys.ts'
import { LogReader, segmentsFolder } from './log-files.ts'
import { readSignedHead } from './signed-head.ts'
import { passSoundParts } from './sound-parts.ts'
import { anchorsOf } from './take-stock.ts'
import { draft } from './testing.ts'
import { type Anchor, type Found, peakAnchors, verifyChain } from './verify-chain.ts'

const largeEntry = draft({ arguments: { text: 'x'.repeat(700) } })

/** A log of several segments, with checkpoints in between. */
const openLong = async (): Promise<Bench> => {
  const bench = await openBench({ checkpoint: { everyEntries: 100 } })
  onTestFinished(() => bench[Symbol.asyncDispose]())
  for (let i = 0; i < 60; i += 1)
    await Promise.all(Array.from({ length: 30 }, () => bench.log.append(largeEntry)))
  await bench.close()
  return bench
}

/** Verifies as a thread with `helpers` others does, all of it on this one. Says how many parts helpers took. */
const verified = async (
  directory: string,
  anchors: readonly Anchor[],
  helpers: number,
  tree = true,
): Promise<Found & { readonly parts: number }> => {
  const key = parsePublicKey(fs.readFileSync(path.join(directory, publicKeyFile), 'utf8'), 'key')
  const sealer = sealerBeside(directory, key)
  const reading = () => {
    const files = new LogReader(directory)
    return { entries: (_: string, from: number) => files.entries(from), files, sealer }
  }
  let parts = 0
  const question = { chain: 'main', from: emptyLog, tree, anchors, through: anchors[0]?.size ?? 0 }
  const found = await verifyChain({
    ...{ ...question, ...reading() },
    passParts: (parted) =>
      passSoundParts(
        parted,
        Array.from({ length: helpers }, () => (part) => {
          parts += 1
          return verifyChain({ ...part, ...reading() })
        }),
      ),
  })
  return { ...found, parts }
}

const anchorsIn = (directory: string): readonly Anchor[] => {
  const key = parsePublicKey(fs.readFileSync(path.join(directory, publicKeyFile), 'utf8'), 'key')
  const head = readSignedHead(directory, key, sealerBeside(directory, key))
  if (!head) throw new Error('the log has no signed head')
  const { checkpoints } = readCheckpointFile(directory, key, null)
  expect(checkpoints.length, checkpointsFile).toBeGreaterThan(5)
  return [{ ...head, source: 'the signed head' }, ...peakAnchors(head), ...anchorsOf(checkpoints)]
}

const segmentsOf = (directory: string): string[] =>
  fs
    .readdirSync(path.join(directory, segmentsFolder))
    .filter((name) => name.endsWith('.log'))
    .toSorted()
    .map((name) => path.join(directory, segmentsFolder, name))

type Change = {
  readonly kind: 'flip' | 'insert' | 'cut' | 'remove' | 'swap'
  readonly file: number
  readonly at: number
}

const change = fc.record<Change>({
  kind: fc.constantFrom('flip', 'insert', 'cut', 'remove', 'swap'),
  file: fc.nat(1_000),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
})

const apply = (directory: string, { kind, file, at }: Change): void => {
  const files = segmentsOf(directory)
  const chosen = files[file % files.length] as string
  const bytes = fs.readFileSync(chosen)
  const place = Math.floor(at * (bytes.length - 1))
  fs.chmodSync(chosen, 0o600)
  if (kind === 'flip') bytes[place] = (bytes[place] as number) ^ 1
  if (kind === 'flip') fs.writeFileSync(chosen, bytes)
  if (kind === 'insert')
    fs.writeFileSync(
      chosen,
      Buffer.concat([bytes.subarray(0, place), Buffer.from('!'), bytes.subarray(place)]),
    )
  if (kind === 'cut') fs.truncateSync(chosen, place)
  if (kind === 'remove') fs.rmSync(chosen)
  const [first = '', second = ''] = files
  if (kind === 'swap') {
    fs.renameSync(first, `${first}.kept`)
    fs.renameSync(second, first)
    fs.renameSync(`${first}.kept`, second)
  }
}

test('parts that are verified at once lead to what one walk leads to, on sound logs and on damaged ones', async () => {
  const { directory } = await openLong()
  const anchors = anchorsIn(directory)
  expect(segmentsOf(directory).length).toBeGreaterThan(2)
  for (const tree of [true, false]) {
    const alone = await verified(directory, anchors, 0, tree)
    const { parts, ...helped } = await verified(directory, anchors, 3, tree)
    expect(parts).toBe(segmentsOf(directory).length - 1)
    expect({ ...helped, parts: 0 }).toEqual(alone)
    expect(alone.fault).toBeNull()
  }
  const kept = `${directory}-kept`
  fs.cpSync(directory, kept, { recursive: true })
  onTestFinished(() => fs.rmSync(kept, { recursive: true }))
  let faults = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 2 }),
      fc.nat(3),
      async (changes, helpers) => {
        fs.rmSync(path.join(directory, segmentsFolder), { recursive: true })
        fs.cpSync(path.join(kept, segmentsFolder), path.join(directory, segmentsFolder), {
          recursive: true,
        })
        for (const one of changes) apply(directory, one)
        const alone = await verified(directory, anchors, 0)
        const helped = await verified(directory, anchors, helpers)
        if (alone.fault) faults += 1
        expect({ ...helped, parts: 0 }).toEqual(alone)
      },
    ),
    { numRuns: 40 },
  )
  expect(faults).toBeGreaterThan(20)
})

test('a root that the log does not have is found as one walk finds it', async () => {
  const { directory } = await openLong()
  const anchors = anchorsIn(directory)
  const chosen = anchors.at(-3)
  const wrong = anchors.map((anchor) =>
    anchor === chosen ? { ...anchor, root: '0'.repeat(64) } : anchor,
  )
  const alone = await verified(directory, wrong, 0)
  expect(alone.fault).toMatchObject({ kind: 'modified' })
  expect({ ...(await verified(directory, wrong, 2)), parts: 0 }).toEqual(alone)
})
