import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadKeys } from './keys.ts'
import {
  damageBeside,
  isNoteSigned,
  readCheckpoints,
  readNotes,
  signCheckpoint,
  signNote,
  verifierKey,
} from './note.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gatehouse-notes-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))
const keysIn = (name: string) => {
  const directory = path.join(folder, name)
  fs.mkdirSync(directory)
  return loadKeys(directory)
}
const keys = keysIn('own')
const others = keysIn('others')
const origin = 'gatehouse/audit/main'
const made = (size: number, name = origin, by = keys) =>
  signCheckpoint({ origin: name, size, root: size.toString(16).padStart(64, '0') }, by)
const none = { checkpoints: [], damaged: [] }

test('a note has its three lines and a signature by the key of its origin, which starts with the id of that key', () => {
  const { note } = made(10)
  const root = Buffer.from('a'.padStart(64, '0'), 'hex').toString('base64')
  const text = `${origin}\n10\n${root}\n`
  const id = createHash('sha256')
    .update(Buffer.concat([Buffer.from(`${origin}\n`), Buffer.of(1), keys.raw]))
    .digest()
    .subarray(0, 4)
  const signature = Buffer.concat([id, keys.sign(Buffer.from(text))]).toString('base64')
  expect(note).toBe(`${text}\n— ${origin} ${signature}\n`)
  expect(signNote(origin, text, keys)).toBe(note)
  expect(verifierKey(origin, keys.raw)).toBe(
    `${origin}+${id.toString('hex')}+${Buffer.concat([Buffer.of(1), keys.raw]).toString('base64')}`,
  )
  expect(readNotes(note, keys)).toEqual({ checkpoints: [made(10)], damaged: [] })
})

test('one of several lines is enough that this key signed under that name, and no other line counts', () => {
  const { note } = made(10)
  const text = note.slice(0, note.indexOf('\n\n') + 1)
  const line = note.slice(note.indexOf('— '))
  const witness = `— witness ${Buffer.alloc(72).toString('base64')}\n`
  expect(isNoteSigned(origin, text, line, keys)).toBe(true)
  expect(isNoteSigned(origin, text, witness + line, keys)).toBe(true)
  expect(readCheckpoints(note.replace(line, witness + line), keys)).toMatchObject([{ size: 10 }])
  const [, , encoded = ''] = line.trim().split(' ')
  const bytes = Buffer.from(encoded, 'base64')
  const changed = (at: number): string => {
    const copy = Buffer.from(bytes)
    copy[at] = (copy[at] as number) ^ 1
    return `— ${origin} ${copy.toString('base64')}\n`
  }
  for (const [name, lines, verifier] of [
    ['another text', line, keys, 'x'],
    ['another key', line, others],
    ['another id', changed(0), keys],
    ['another id', changed(3), keys],
    ['another signature', changed(4), keys],
    ['another name', line.replace(origin, 'gatehouse/audit/other'), keys],
    ['no signature', `— ${origin}\n`, keys],
    ['nothing', '', keys],
  ] as const)
    expect([
      name,
      isNoteSigned(origin, name === 'another text' ? `${text}x` : text, lines, verifier),
    ]).toEqual([name, false])
})

test('notes one after the other are read, and what is between them is damage with its place', () => {
  const [a, b, c] = [made(1), made(2), made(3)]
  expect(readNotes(`${a.note}\n${b.note}\n\n\0\0\n${c.note}`, keys)).toEqual({
    checkpoints: [a, b, c],
    damaged: [],
  })
  const text = `${a.note}\n\n\0\nsomebody was here\n\n${b.note}`
  expect(readNotes(text, keys)).toEqual({
    checkpoints: [a, b],
    damaged: [{ at: text.indexOf('somebody'), text: 'somebody was here' }],
  })
  const foreign = made(2, origin, others).note
  expect(readNotes(`${a.note}\n${foreign}`, keys)).toEqual({
    checkpoints: [a],
    damaged: [{ at: a.note.length + 1, text: foreign.trimEnd() }],
  })
  // Whoever has checked the signatures before does not do so again.
  expect(readNotes(`${a.note}\n${foreign}`, null).checkpoints.map(({ size }) => size)).toEqual([
    1, 2,
  ])
  expect(readNotes('', keys)).toEqual(none)
  expect(readNotes('\n\0\n', keys)).toEqual(none)
})

test('every beginning of a note is what a crash leaves of one, and no damage', () => {
  const { note } = made(1_234)
  const bytes = Buffer.from(note)
  const before = made(7)
  // Without the padding at its end a signature is the same.
  for (let length = 0; length < bytes.length - 2; length += 1) {
    const torn = bytes.subarray(0, length).toString('utf8')
    expect([length, readNotes(torn, keys)]).toEqual([length, none])
    expect([length, readNotes(`${before.note}\n${torn}`, keys)]).toEqual([
      length,
      { checkpoints: [before], damaged: [] },
    ])
  }
  // The end of the last line may be missing.
  expect(readNotes(note.slice(0, -1), keys).checkpoints).toMatchObject([{ size: 1_234 }])
  expect(readNotes(note, keys).checkpoints).toMatchObject([{ size: 1_234 }])
})

test('a beginning in which something changed is damage', () => {
  const lines = made(1_234).note.split('\n')
  const [name = '', size = '', root = '', , signature = ''] = lines
  const torn = (...given: readonly string[]): string => given.join('\n')
  const damaged = [
    torn('gatehouse/audix/main', size),
    torn('xgatehouse/audit/main', size),
    torn('gatehousE'),
    torn('house/audit/main'),
    torn('gatehouse/audit', '12'),
    torn(name, '12x'),
    torn(name, 'x12'),
    torn(name, '1'.repeat(17)),
    torn(name, size, `${root.slice(0, 20)}!`),
    torn(name, size, `!${root.slice(0, 20)}`),
    torn(name, size, `${root}=`),
    torn(name, size, root.slice(0, 40), '', '— '),
    torn(name, size, '', '', '— '),
    torn(name, size, root, 'x'),
    torn(name, size, root, '', 'x'),
    torn(name, size, root, '', `— ${name}x`),
    torn(name, size, root, '', `-- ${name} `),
    torn(name, size, root, '', `— ${name} !`),
    torn(name, size, root, '', `— ${name} AA!`),
    torn(name, size, root, '', `x${signature.slice(0, 40)}`),
    torn(name, size, root, '', `${signature.slice(0, 60)}=`),
    torn(name, size, root, '', `— ${name} ${'A'.repeat(92)}`),
    torn(name, size, root, '', signature.slice(0, 40), 'x'),
    torn(name, size, root, '', signature.slice(0, 40), '', 'x'),
  ]
  for (const text of damaged)
    expect(readNotes(text, keys)).toEqual({ checkpoints: [], damaged: [{ at: 0, text }] })
  for (const text of [
    torn(name, '1'.repeat(16)),
    torn(name, size, root),
    torn(name, size, root, '', `— ${name} ${'A'.repeat(91)}`),
  ])
    expect(readNotes(text, keys)).toEqual(none)
})

test('in a file of several logs whole notes of others are no damage, and everything else is', () => {
  const foreign = made(3, 'gatehouse/audit/other', others).note
  const later = made(4, 'gatehouse/audit/main2', others).note
  const beside = (text: string) => damageBeside(readNotes(text, keys).damaged, 'main')
  expect(beside(`${made(1).note}\n${foreign}\n${made(2).note}\n${later}`)).toEqual([])
  const own = made(5, origin, others).note
  const epoch = made(5, `${origin}/2`, others).note
  const strange = made(5, 'elsewhere/audit/x', others).note
  for (const text of [own, epoch, strange])
    expect(beside(`${foreign}\n${text}\n${later}`)).toEqual([
      { at: foreign.length + 1, text: text.trimEnd() },
    ])
  // A second signature under another name makes it another note.
  const lines = `${foreign}— witness AAAA\n`
  expect(beside(lines)).toEqual([{ at: 0, text: lines.trimEnd() }])
  const text = `${made(1).note}\n${foreign}\nwho was here\n${later}`
  expect(beside(text)).toEqual([{ at: text.indexOf('who'), text: 'who was here' }])
  expect(beside(`${foreign}\nwho`)).toEqual([{ at: foreign.length + 1, text: 'who' }])
})
