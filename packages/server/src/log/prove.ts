import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AuditProof, GatehouseError } from '@gatehouse/contract'
import { createLinker, type LogState, leafOf } from '../domain/audit/chain.ts'
import {
  consistencyProof,
  inclusionProof,
  rootAt,
  sizeOf,
  type TreePart,
} from '../domain/audit/proofs.ts'
import type { AuditRow, ReadableChains } from '../ports/audit-rows.ts'
import { type ChainStarts, startOf } from './chain-starts.ts'
import { hashing } from './hashing.ts'
import { parsePublicKey } from './keys.ts'
import { type Checkpoint, readCheckpoints } from './note.ts'
import type { Entries } from './verify-chain.ts'

/** Proof that the tree only grew, in hex: to be checked against the roots of two checkpoints. */
export type Consistency = {
  readonly first: number
  readonly second: number
  readonly first_root: string
  readonly second_root: string
  readonly proof: readonly string[]
}

/** The entries that are left, and the state from which they go on. */
type ProofParts = { readonly entries: Entries; readonly start: LogState }

const partOf = async (
  { entries, start }: ProofParts,
  chain: string,
  size: number,
): Promise<TreePart> => {
  const linker = createLinker(hashing)
  const leaves: string[] = []
  all: for await (const group of entries(chain, start.size)) {
    for (const { seq, body } of group) {
      if (start.size + leaves.length >= size) break all
      leaves.push(leafOf(linker, seq, body))
    }
    await nextTurn()
  }
  return { start, leaves }
}

/** A log as far as a proof of one of its entries needs it. */
export type ProvenLog = ProofParts & {
  readonly chain: string
  readonly newest: Checkpoint | undefined
  /** PEM. */
  readonly publicKey: string
}

/** The log of another process, with the checkpoint that it signed last. */
export const logOfOther = async (
  parts: {
    readonly entries: Entries
    readonly others: Pick<ReadableChains, 'checkpoint' | 'keys'>
    readonly starts: ChainStarts
  },
  chain: string,
): Promise<ProvenLog> => {
  const { entries, others, starts } = parts
  const note = await others.checkpoint(chain)
  const publicKey = (await others.keys()).find((key) => key.chain === chain)?.public_key ?? ''
  const newest =
    note === null || publicKey === ''
      ? undefined
      : readCheckpoints(note, parsePublicKey(publicKey, chain)).at(-1)
  return { chain, entries, start: startOf(await starts.read(), chain), newest, publicKey }
}

/** An entry with its way to the root of the newest checkpoint of its log. */
export const proveInclusion = async (log: ProvenLog, row: AuditRow): Promise<AuditProof> => {
  const { chain, newest, publicKey } = log
  if (!newest || row.seq >= newest.size)
    throw new GatehouseError('Conflict', {
      detail: `No checkpoint of the log of ${chain} is over this entry yet. Its process signs one each minute: try again when it has.`,
    })
  const { size, note, root } = newest
  const part = await partOf(log, chain, size)
  const leaf = part.leaves[row.seq - part.start.size]
  // A damaged log would make a proof that nobody can check.
  if (leaf === undefined || sizeOf(part) !== size || rootAt(hashing, part, size) !== root) {
    const detail = `the log of ${chain} is not the one that its checkpoint over ${size} entries is about`
    throw new GatehouseError('AuditDamaged', { id: row.id, detail })
  }
  return {
    format: 'gatehouse-audit-proof-v1',
    body: row.body,
    seq: row.seq,
    size,
    leaf,
    root,
    proof: inclusionProof(hashing, part, row.seq),
    checkpoint: note,
    public_key: publicKey,
  }
}

export const proveConsistency = async (
  parts: ProofParts,
  chain: string,
  first: number,
  second: number,
): Promise<Consistency> => {
  const { size } = parts.start
  if (first < size)
    throw new GatehouseError('NotFound', {
      path: `a tree of ${first} entries: ${size} were removed`,
    })
  const part = await partOf(parts, chain, second)
  return {
    first,
    second,
    first_root: rootAt(hashing, part, first),
    second_root: rootAt(hashing, part, second),
    proof: consistencyProof(hashing, part, first),
  }
}
