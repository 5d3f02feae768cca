import { createHash } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

/** An entry in the bytes of a segment, found without any code of the service: hash, seal, canonical JSON. */
export type FoundEntry = {
  readonly file: string
  /** Where its line begins: the hash. */
  readonly at: number
  readonly line: string
  readonly seq: number
}

const hashLength = 64
const sealLength = 16
/** Where the JSON begins in the line of an entry. */
export const bodyAt = hashLength + sealLength

const line = /\n([0-9a-f]{80}\{"actor":[^\n\0]*?"timestamp":"[^"]*"\})/g

/** The entries in the segments of a log, as they lie. */
export const findEntries = (dataDir: string): FoundEntry[] => {
  const folder = join(dataDir, 'audit/segments')
  return readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .sort()
    .flatMap((name) => {
      const file = join(folder, name)
      const text = readFileSync(file, 'latin1')
      return [...text.matchAll(line)].map((match) => {
        const [, found = ''] = match
        const { seq } = JSON.parse(found.slice(bodyAt)) as { readonly seq: number }
        return { file, at: match.index + 1, line: found, seq }
      })
    })
}

/** Bytes of a file, and what they were before. */
export type Change = { readonly file: string; readonly at: number; readonly text: string }

/** Opens each of the files once: a change may be one of thousands. */
const eachFile = (
  changes: readonly Change[],
  work: (fd: number, ofFile: readonly Change[]) => void,
): void => {
  for (const file of new Set(changes.map((change) => change.file))) {
    const fd = openSync(file, 'r+')
    try {
      work(
        fd,
        changes.filter((change) => change.file === file),
      )
    } finally {
      closeSync(fd)
    }
  }
}

const write = (changes: readonly Change[]): void =>
  eachFile(changes, (fd, ofFile) => {
    for (const { at, text } of ofFile)
      writeSync(fd, Buffer.from(text, 'latin1'), 0, text.length, at)
    fsyncSync(fd)
  })

/** Writes bytes over others; the answer puts back what was there. */
export const overwrite = (changes: readonly Change[]): (() => void) => {
  const before: Change[] = []
  eachFile(changes, (fd, ofFile) => {
    for (const { file, at, text } of ofFile) {
      const bytes = Buffer.alloc(text.length)
      readSync(fd, bytes, 0, bytes.length, at)
      before.push({ file, at, text: bytes.toString('latin1') })
    }
  })
  write(changes)
  return () => write(before)
}

/** The chain hash of an entry, as the documents have it. */
export const chainHash = (before: string, seq: number, body: string): string => {
  const bytes = Buffer.from(body, 'latin1')
  const place = Buffer.alloc(12)
  place.writeBigUInt64BE(BigInt(seq), 0)
  place.writeUInt32BE(bytes.length, 8)
  return createHash('sha256')
    .update('gatehouse-audit-v1\0')
    .update(Buffer.from(before, 'hex'))
    .update(place)
    .update(bytes)
    .digest('hex')
}
