import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { loadKeys } from './keys.ts'
import {
  oldHeadFile,
  readOldSignedHead,
  retireOldSignedHead,
  unsealOld,
} from './old-signed-head.ts'

const tag = 'gatehouse-mark-v1\n'
const hash = 'ab'.repeat(32)
const mib = 1024 * 1024

const open = () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-mark-'))
  onTestFinished(() => fs.rmSync(directory, { recursive: true }))
  return { directory, keys: loadKeys(directory), file: path.join(directory, oldHeadFile) }
}

const textOf = (count: number, more: object = {}): string =>
  JSON.stringify({ chain: 'main', size: 2, head: hash, peaks: [hash], count, ...more })

type Opened = ReturnType<typeof open>

const sealed = ({ keys }: Opened, text: string): string =>
  `${text}\nhmac-sha256:${keys.mac(tag + text).toString('base64')}\n`
const signed = ({ keys }: Opened, text: string): string =>
  `${text}\n${keys.sign(Buffer.from(tag + text)).toString('base64')}\n`

const record = (seqs: readonly number[]): string =>
  [
    JSON.stringify([[{ key: 'k', at: 1 }], [['alpha', 2]], [['ses', 3]], 77]),
    ...seqs.map((seq) => `${hash}${JSON.stringify({ seq, id: `aud-${seq}` })}`),
  ].join('\n')

const framed = (text: string, sum = crc32(text)): Buffer => {
  const head = Buffer.alloc(8)
  head.writeUInt32LE(Buffer.byteLength(text))
  head.writeUInt32LE(sum, 4)
  return Buffer.concat([head, Buffer.from(text)])
}

/** Two slots for the head, two halves with records, and a slot behind them. */
const write = (
  { file }: Opened,
  slots: readonly string[],
  halves: readonly Buffer[] = [],
  halfBytes = 0,
): void => {
  const bytes = Buffer.alloc(8_192 + 2 * halfBytes + 4_096)
  for (const [i, slot] of slots.entries()) bytes.write(slot, i * 4_096)
  for (const [i, half] of halves.entries()) half.copy(bytes, 8_192 + i * halfBytes)
  fs.writeFileSync(file, bytes)
}

test('of two heads the newer one counts, whichever slot it has, and none that another install sealed', () => {
  const mine = open()
  expect(readOldSignedHead(mine.directory, mine.keys)).toBeNull()
  const [older, newer] = [sealed(mine, textOf(4)), sealed(mine, textOf(5, { vault: 'v' }))]
  for (const slots of [
    [older, newer],
    [newer, older],
  ]) {
    write(mine, slots)
    const found = readOldSignedHead(mine.directory, mine.keys)
    expect(found).toEqual({
      head: { chain: 'main', size: 2, head: hash, peaks: [hash], count: 5, vault: 'v' },
      groups: [],
    })
  }
  const foreign = sealed(open(), textOf(9))
  write(mine, [older, foreign])
  expect(readOldSignedHead(mine.directory, mine.keys)?.head).toMatchObject({
    count: 4,
    vault: null,
  })
  write(mine, [foreign, ''])
  expect(readOldSignedHead(mine.directory, mine.keys)).toBeNull()
})

test('a head is sealed by a MAC or a signature over its text, and its frontier fits its size', () => {
  const mine = open()
  const { keys } = mine
  const text = textOf(1)
  expect(unsealOld(sealed(mine, text), keys)).toMatchObject({ count: 1, vault: null })
  expect(unsealOld(signed(mine, text), keys)).toMatchObject({ count: 1 })
  const plain = keys.mac(text).toString('base64')
  for (const content of [
    '',
    text,
    `${text}\n`,
    `${text}\nhmac-sha256:\n`,
    `${text}\nhmac-sha256:${plain}\n`,
    `${text}\n${keys.mac(tag + text).toString('base64')}\n`,
    `${text}\n${keys.sign(Buffer.from(text)).toString('base64')}\n`,
    `${textOf(2)}\n${sealed(mine, text).split('\n')[1]}\n`,
    `${textOf(2)}\n${signed(mine, text).split('\n')[1]}\n`,
    sealed(mine, textOf(1, { peaks: [] })),
    sealed(mine, textOf(1, { size: 3 })),
  ])
    expect([content, unsealOld(content, keys)]).toEqual([content, null])
})

test.each([mib, 4 * mib])(
  'groups of both halves of %d bytes are read in the order of their entries',
  (halfBytes) => {
    const mine = open()
    const slots = [sealed(mine, textOf(1)), '']
    const later = Buffer.concat([framed(record([7, 8])), framed(record([9]))])
    write(mine, slots, [later, framed(record([5, 6]))], halfBytes)
    const { groups = [] } = readOldSignedHead(mine.directory, mine.keys) ?? {}
    expect(groups.map(({ entries }) => entries.map(({ seq }) => seq))).toEqual([
      [5, 6],
      [7, 8],
      [9],
    ])
    expect(groups[0]).toEqual({
      note: {
        ...{ stamps: [{ key: 'k', at: 1 }], agents: [['alpha', 2]], sessions: [['ses', 3]] },
        ...{ clockMs: 77, vault: null },
      },
      entries: [
        { seq: 5, hash, body: '{"seq":5,"id":"aud-5"}' },
        { seq: 6, hash, body: '{"seq":6,"id":"aud-6"}' },
      ],
    })
  },
)

test('what follows a record that is not whole is not read, nor a file of another length', () => {
  const mine = open()
  const slots = [sealed(mine, textOf(1)), '']
  const seqs = (half: Buffer, halfBytes = mib) => {
    write(mine, slots, [half], halfBytes)
    return readOldSignedHead(mine.directory, mine.keys)?.groups.map(
      ({ entries }) => entries[0]?.seq,
    )
  }
  const [one, two] = [framed(record([1])), framed(record([2]))]
  expect(seqs(Buffer.concat([one, two]))).toEqual([1, 2])
  expect(seqs(Buffer.concat([one, Buffer.alloc(8), two]))).toEqual([1])
  expect(seqs(Buffer.concat([one, framed(record([3]), 5), two]))).toEqual([1])
  const long = framed(record([3]))
  long.writeUInt32LE(mib, 0)
  expect(seqs(Buffer.concat([one, long]))).toEqual([1])
  expect(seqs(Buffer.concat([one, two]), 2 * mib)).toEqual([])
})

test('a head that is no longer used stays under another name, and what was beside it goes', () => {
  const mine = open()
  retireOldSignedHead(mine.directory)
  write(mine, ['x'])
  const bytes = fs.readFileSync(mine.file)
  fs.writeFileSync(path.join(mine.directory, 'audit.trail'), 'x')
  retireOldSignedHead(mine.directory)
  expect(fs.readdirSync(mine.directory).filter((name) => /mark|trail/.test(name))).toEqual([
    'audit.mark.before-log-files',
  ])
  expect(fs.readFileSync(`${mine.file}.before-log-files`)).toEqual(bytes)
})
