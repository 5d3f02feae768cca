import fs from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type Bench, openBench } from '../../test/kit/log-bench.ts'
import { encodeFrame, macBytes } from './frame.ts'
import { segmentsFolder } from './log-files.ts'
import { verifyOffline } from './offline.ts'
import { dataAt } from './segment.ts'
import { draft, everything, frameAt } from './testing.ts'

/** A log of several segments. */
const openLong = async (): Promise<Bench> => {
  const bench = await openBench()
  onTestFinished(() => bench[Symbol.asyncDispose]())
  const large = draft({ arguments: { text: 'x'.repeat(700) } })
  for (let i = 0; i < 5; i += 1) await bench.log.append(large)
  for (let i = 0; i < 30; i += 1)
    await Promise.all(Array.from({ length: 30 }, () => bench.log.append(large)))
  return bench
}

const segmentsOf = ({ directory }: Bench): readonly string[] => {
  const folder = path.join(directory, segmentsFolder)
  const names = fs.readdirSync(folder).filter((name) => name.endsWith('.log'))
  return names.toSorted().map((name) => path.join(folder, name))
}

const rewrite = (file: string, change: (bytes: Buffer) => Buffer): void => {
  const { mode } = fs.statSync(file)
  fs.chmodSync(file, 0o600)
  fs.writeFileSync(file, change(fs.readFileSync(file)))
  fs.chmodSync(file, mode & 0o777)
}

const putIn = (at: number, added: Buffer) => (bytes: Buffer) =>
  Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at)])

const emptyFrame = encodeFrame(2, 0, '{}', Buffer.alloc(macBytes))

type Place = { readonly file: string; readonly at: number; readonly seq: number }

/** Each leaves every entry as it is, and says where it began. */
const changes: Record<string, (bench: Bench) => Place> = {
  'bytes are put between two frames of a sealed segment': (bench) => {
    const { file, at } = frameAt(bench.directory, 2)
    rewrite(file, putIn(at, Buffer.from('not of this log')))
    return { file, at, seq: 2 }
  },
  'zeros are put between two frames of a sealed segment': (bench) => {
    const { file, at } = frameAt(bench.directory, 2)
    rewrite(file, putIn(at, Buffer.alloc(100)))
    return { file, at, seq: 2 }
  },
  'a frame without entries is put in': (bench) => {
    const { file, at } = frameAt(bench.directory, 2)
    rewrite(file, putIn(at, emptyFrame))
    return { file, at, seq: 2 }
  },
  'bytes are put before the first frame': (bench) => {
    const [file = ''] = segmentsOf(bench)
    rewrite(file, putIn(dataAt, Buffer.from('x')))
    return { file, at: dataAt, seq: 0 }
  },
  'bytes are put behind the last frame of a sealed segment': (bench) => {
    const [file = '', next = ''] = segmentsOf(bench)
    const at = fs.statSync(file).size
    rewrite(file, putIn(at, Buffer.from('x')))
    return { file, at, seq: Number.parseInt(path.basename(next), 10) - 1 }
  },
  'bytes are put between two frames of the segment that is written': (bench) => {
    const { file, at } = frameAt(bench.directory, 904)
    expect(file).toBe(segmentsOf(bench).at(-1))
    rewrite(file, putIn(at, Buffer.from('x')))
    return { file, at, seq: 875 }
  },
  'the note of a group is changed': (bench) => {
    const { file, at } = frameAt(bench.directory, 3)
    rewrite(file, (bytes) => {
      bytes.write('"clockMs":9', bytes.indexOf('"clockMs":', at))
      return bytes
    })
    return { file, at, seq: 3 }
  },
  'the header of a segment names another chain': (bench) => {
    const [, file = ''] = segmentsOf(bench)
    rewrite(file, (bytes) => {
      bytes.write('"chain":"mine"', bytes.indexOf('"chain":"main"'))
      return bytes
    })
    return { file, at: 0, seq: Number.parseInt(path.basename(file), 10) }
  },
  'something is written into the padding of a header': (bench) => {
    const [, file = ''] = segmentsOf(bench)
    rewrite(file, (bytes) => {
      bytes.write('x', dataAt - 1)
      return bytes
    })
    return { file, at: 0, seq: Number.parseInt(path.basename(file), 10) }
  },
}

for (const [name, tamper] of Object.entries(changes))
  test(`an alarm names file and offset when ${name}`, async () => {
    const bench = await openLong()
    expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
    const { file, at, seq } = tamper(bench)
    const alarm = {
      integrity: 'failed',
      kind: 'modified',
      first_bad_seq: seq,
      detail: expect.stringContaining(`${path.basename(file)}, byte ${at}: `),
    }
    expect(await verifyOffline({ directory: bench.directory })).toMatchObject(alarm)
    expect(await bench.log.query(everything)).toMatchObject(alarm)
    expect(await bench.log.verify()).toMatchObject(alarm)
  })

test('a header that names another state of the log than that before its segment is found', async () => {
  const bench = await openLong()
  const [, file = ''] = segmentsOf(bench)
  for (const field of ['head', 'root']) {
    rewrite(file, (bytes) => {
      const at = bytes.indexOf(`"${field}":"`) + field.length + 4
      bytes[at] = (bytes[at] as number) ^ 1
      return bytes
    })
    const detail = expect.stringContaining(`the header of ${path.basename(file)}`)
    expect(await verifyOffline({ directory: bench.directory })).toMatchObject({
      integrity: 'failed',
      detail,
    })
    expect(await bench.log.verify()).toMatchObject({ integrity: 'failed', detail })
  }
})

test('what was acknowledged between frames is no alarm, and what is put there later is one', async () => {
  const bench = await openLong()
  const { file, at } = frameAt(bench.directory, 2)
  rewrite(file, putIn(at, Buffer.from('first')))
  expect(await bench.log.verify()).toMatchObject({ integrity: 'failed', first_bad_seq: 2 })
  expect(await bench.log.acknowledge('a disk was restored')).toMatchObject({
    integrity: 'verified',
  })
  expect(await bench.log.verify()).toMatchObject({ integrity: 'verified' })
  expect(await verifyOffline({ directory: bench.directory })).toMatchObject({
    integrity: 'verified',
  })
  rewrite(file, putIn(at, Buffer.from('second')))
  expect(await verifyOffline({ directory: bench.directory })).toMatchObject({
    integrity: 'failed',
    first_bad_seq: 2,
  })
  expect(await bench.log.verify()).toMatchObject({ integrity: 'failed', first_bad_seq: 2 })
})
