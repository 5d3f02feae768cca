import { timingSafeEqual } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import { frontierFits } from '../domain/audit/merkle.ts'
import type { CopiedEntry } from '../ports/audit-rows.ts'
import type { LimitStamp } from '../ports/limits.ts'
import { readIfThere } from './files.ts'
import type { GroupNote } from './frame.ts'
import type { Keys } from './keys.ts'
import type { SignedHead } from './signed-head.ts'

// Signed state of a log whose entries lay in the database: read once, when it moves into files.

export const oldHeadFile = 'audit.mark'
const slotBytes = 4096
const recordsAt = slotBytes * 2
const headBytes = 8
const tag = 'gatehouse-mark-v1\n'
const macPrefix = 'hmac-sha256:'
const hashLength = 64
const halves: readonly number[] = [0, 1024 * 1024, 4 * 1024 * 1024]

export type OldGroup = { readonly note: GroupNote; readonly entries: readonly CopiedEntry[] }

export type OldSignedHead = {
  readonly head: SignedHead
  /** Groups that the database may not have got, by their first entry. */
  readonly groups: readonly OldGroup[]
}

const isGenuine = (text: string, seal: string, keys: Keys): boolean => {
  if (!seal.startsWith(macPrefix))
    return keys.verify(Buffer.from(tag + text), Buffer.from(seal, 'base64'))
  const given = Buffer.from(seal.slice(macPrefix.length), 'base64')
  const expected = keys.mac(tag + text)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** The sealed state in such a content; null for anything that this install did not seal. */
export const unsealOld = (content: string, keys: Keys): SignedHead | null => {
  const [text = '', seal = ''] = content.split('\n')
  if (!isGenuine(text, seal, keys)) return null
  const given = JSON.parse(text) as SignedHead
  const head = { ...given, vault: given.vault ?? null }
  return frontierFits(head.size, head.peaks) ? head : null
}

const recordsOf = (half: Buffer): string[] => {
  const records: string[] = []
  for (let at = 0; at + headBytes <= half.length; ) {
    const length = half.readUInt32LE(at)
    const record = half.subarray(at + headBytes, at + headBytes + length)
    if (length === 0 || record.length < length || crc32(record) !== half.readUInt32LE(at + 4)) break
    records.push(record.toString('utf8'))
    at += headBytes + length
  }
  return records
}

const groupOf = (record: string): OldGroup => {
  const [about = '', ...lines] = record.split('\n')
  type About = [readonly LimitStamp[], [string, number][], [string, number][], number]
  const [stamps, agents, sessions, clockMs] = JSON.parse(about) as About
  const entries = lines.map((line) => {
    const body = line.slice(hashLength)
    return { seq: (JSON.parse(body) as CopiedEntry).seq, hash: line.slice(0, hashLength), body }
  })
  return { note: { stamps, agents, sessions, clockMs, vault: null }, entries }
}

/** Null where there is none, or none that this install sealed. */
export const readOldSignedHead = (directory: string, keys: Keys): OldSignedHead | null => {
  const bytes = readIfThere(path.join(directory, oldHeadFile))
  if (!bytes) return null
  const heads = [0, 1]
    .map((i) => unsealOld(bytes.toString('utf8', i * slotBytes, (i + 1) * slotBytes), keys))
    .filter((head) => head !== null)
  const head = heads.sort((a, b) => b.count - a.count)[0]
  if (!head) return null
  const halfBytes = halves.find((half) => bytes.length === recordsAt + 2 * half + slotBytes) ?? 0
  const groups = [0, 1]
    .map((i) => recordsAt + i * halfBytes)
    .flatMap((at) => recordsOf(bytes.subarray(at, at + halfBytes)).map(groupOf))
    .toSorted((a, b) => (a.entries[0]?.seq ?? 0) - (b.entries[0]?.seq ?? 0))
  return { head, groups }
}

/** Keeps the file under a name that nothing reads. */
export const retireOldSignedHead = (directory: string): void => {
  const file = path.join(directory, oldHeadFile)
  if (fs.existsSync(file)) fs.renameSync(file, `${file}.before-log-files`)
  fs.rmSync(path.join(directory, 'audit.trail'), { force: true })
}
