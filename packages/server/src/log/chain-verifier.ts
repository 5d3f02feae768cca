import path from 'node:path'
import type { Fault } from '../domain/audit/verify-range.ts'
import type { AuditIndex } from '../ports/audit-rows.ts'
import { checkIndex, type IndexQuestion } from './check-index.ts'
import { readIfThere } from './files.ts'
import type { LoggedEntry } from './frame.ts'
import { parsePublicKey, publicKeyFile, type Sealer, sealerBeside } from './keys.ts'
import type { LogReader } from './log-files.ts'
import {
  type ChainQuestion,
  digestEntries,
  type Entries,
  type Found,
  verifyChain,
} from './verify-chain.ts'

/** Hashes the log again, on this thread or on another one. */
export interface ChainVerifier {
  verify(question: ChainQuestion, signal: AbortSignal): Promise<Found>

  /** Must resolve with the first place where the index differs from the log. */
  checkIndex(question: IndexQuestion, signal: AbortSignal): Promise<Fault | null>

  /** Must resolve with the digest of the entries before `size`. */
  digest(chain: string, size: number, signal: AbortSignal): Promise<string>
}

export type IndexReader = Pick<AuditIndex, 'range' | 'ends' | 'copies'>

const sliceRows = 512

/** Entries of this node's chain come from its files; those of other nodes from the copies in the store. */
export const entriesOf =
  (files: LogReader, index: Pick<AuditIndex, 'copies'>, own: string): Entries =>
  (chain, from) =>
    chain === own ? files.entries(from) : copiesOf(index, chain, from)

export async function* copiesOf(
  index: Pick<AuditIndex, 'copies'>,
  chain: string,
  from: number,
): AsyncGenerator<readonly LoggedEntry[]> {
  for (let next = from; ; ) {
    const copies = await index.copies(chain, next, sliceRows)
    const last = copies.at(-1)
    if (!last) return
    yield copies.map((copy) => ({ ...copy, seal: '' }))
    next = last.seq + 1
  }
}

/** What checks seals, where the key of the log can be read. */
export const sealerOf = (directory: string): Sealer | null => {
  const file = path.join(directory, publicKeyFile)
  const text = readIfThere(file)?.toString('utf8')
  return text === undefined ? null : sealerBeside(directory, parsePublicKey(text, file))
}

/** On this thread, in slices. */
export const verifierOf = (
  files: LogReader,
  index: IndexReader,
  sealer: Sealer | null,
  own: string,
): ChainVerifier => {
  const entries = entriesOf(files, index, own)
  return {
    verify: (question, signal) => verifyChain({ ...question, entries, sealer, signal }),
    checkIndex: (question, signal) => checkIndex(index, entries, question, signal),
    digest: (chain, size, signal) => digestEntries(entries, chain, size, signal),
  }
}
