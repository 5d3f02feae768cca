import path from 'node:path'
import { seqMax } from '../domain/audit/row.ts'
import type { Fault } from '../domain/audit/verify-range.ts'
import type { ReadableChains } from '../ports/audit-rows.ts'
import { type CopiesQuestion, checkCopies } from './check-copies.ts'
import { readIfThere } from './files.ts'
import type { LoggedEntry } from './frame.ts'
import { parsePublicKey, publicKeyFile, type Sealer, sealerBeside } from './keys.ts'
import type { LogReader } from './log-files.ts'
import { passSoundParts } from './sound-parts.ts'
import {
  type ChainQuestion,
  digestLog,
  type Entries,
  type Found,
  type LogDigest,
  verifyChain,
} from './verify-chain.ts'

/** Hashes the log again, on this thread or on another one. */
export interface ChainVerifier {
  verify(question: ChainQuestion, signal: AbortSignal): Promise<Found>

  /** Must resolve with the first place where the copies of this node's entries differ from its log. */
  checkCopies(question: CopiesQuestion, signal: AbortSignal): Promise<Fault | null>

  /** Must resolve with the digest of the log before `size`. */
  digest(chain: string, size: number, signal: AbortSignal): Promise<LogDigest>
}

export type CopiesReader = Pick<ReadableChains, 'read'>

const sliceRows = 512

/** Entries of this process' chain come from its files; those of others from where they can be read. */
export const entriesOf =
  (files: LogReader, copies: CopiesReader, own: string): Entries =>
  (chain, from) =>
    chain === own ? files.entries(from) : copiesOf(copies, chain, from)

export async function* copiesOf(
  copies: CopiesReader,
  chain: string,
  from: number,
): AsyncGenerator<readonly LoggedEntry[]> {
  for (let next = from; ; ) {
    const slice = await copies.read(chain, next, sliceRows)
    const last = slice.at(-1)
    if (!last) return
    yield slice.map((copy) => ({ ...copy, seal: '' }))
    if (last.seq >= seqMax) return
    next = last.seq + 1
  }
}

/** Checker of seals, where the key of the log can be read. */
export const sealerOf = (directory: string): Sealer | null => {
  const file = path.join(directory, publicKeyFile)
  const text = readIfThere(file)?.toString('utf8')
  return text === undefined ? null : sealerBeside(directory, parsePublicKey(text, file))
}

/** On this thread, in slices. */
export const verifierOf = (
  files: LogReader,
  copies: CopiesReader,
  sealer: Sealer | null,
  own: string,
  helpers: readonly ChainVerifier[] = [],
): ChainVerifier => {
  const entries = entriesOf(files, copies, own)
  const of = (chain: string) => ({ entries, files: chain === own ? files : null })
  return {
    verify: (question, signal) =>
      verifyChain({
        ...{ ...question, ...of(question.chain), sealer, signal },
        passParts: (parted) =>
          passSoundParts(
            parted,
            helpers.map((helper) => (part) => helper.verify(part, signal)),
          ),
      }),
    checkCopies: (question, signal) => checkCopies(copies, entries, question, signal),
    digest: (chain, size, signal) => digestLog(of(chain), chain, size, signal),
  }
}
