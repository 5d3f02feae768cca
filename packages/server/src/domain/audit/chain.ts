import type { Hashing } from './hashing.ts'

/** Hash that the first entry follows. */
export const genesis = '0'.repeat(64)

/** Where a log stands: everything needed to go on, and to prove what came before. */
export type LogState = {
  /** How many entries there are; the next has this `seq`. */
  readonly size: number
  /** Hash of the last entry. */
  readonly head: string
  /** Roots of the perfect subtrees of the Merkle tree, largest first. */
  readonly peaks: readonly string[]
}

export const emptyLog: LogState = { size: 0, head: genesis, peaks: [] }

const tag = 'gatehouse-audit-v1\0'
const prevAt = tag.length
const seqAt = prevAt + 32
const lengthAt = seqAt + 8
const bodyAt = lengthAt + 4

/**
 * Hashes entries. Both hashes cover `u64be(seq) ‖ u32be(length) ‖ body`:
 * chain = SHA-256("gatehouse-audit-v1\0" ‖ prev ‖ …), leaf = SHA-256(0x00 ‖ …).
 */
export interface Linker {
  /** The chain hash of an entry after `prev`. */
  link(prev: string, seq: number, body: string): string

  /** The leaf hash of the entry that `link` hashed last; its bytes are still in place. */
  leaf(): string
}

/** Not to be shared between two that interleave: it works in one buffer. */
export const createLinker = (hashing: Hashing): Linker => {
  let bytes = hashing.room(0)
  let view = new DataView(bytes.buffer, bytes.byteOffset)
  let end = 0

  const grow = (need: number): void => {
    bytes = hashing.room(Math.max(16_384, need * 2))
    view = new DataView(bytes.buffer, bytes.byteOffset)
    for (let i = 0; i < tag.length; i++) bytes[i] = tag.charCodeAt(i)
  }

  return {
    link(prev, seq, body) {
      if (bytes.length < bodyAt + body.length * 3) grow(bodyAt + body.length * 3)
      hashing.writeHex(bytes, prev, prevAt)
      view.setUint32(seqAt, Math.floor(seq / 2 ** 32))
      view.setUint32(seqAt + 4, seq % 2 ** 32)
      const length = hashing.writeText(bytes, body, bodyAt)
      view.setUint32(lengthAt, length)
      end = bodyAt + length
      return hashing.sha256(bytes.subarray(0, end))
    },
    leaf() {
      // The leaf's 0x00 goes where the last byte of `prev` was: it is written anew by the next link.
      bytes[seqAt - 1] = 0
      return hashing.sha256(bytes.subarray(seqAt - 1, end))
    },
  }
}

/** The leaf hash of one entry by itself; an empty body stands for an entry that is gone. */
export const leafOf = (linker: Linker, seq: number, body: string): string => {
  linker.link(genesis, seq, body)
  return linker.leaf()
}
