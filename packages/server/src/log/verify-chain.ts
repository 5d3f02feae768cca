import { createHash } from 'node:crypto'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LogState } from '../domain/audit/chain.ts'
import { rootOf } from '../domain/audit/merkle.ts'
import { createRangeVerifier, type Fault, goneText, idOf } from '../domain/audit/verify-range.ts'
import type { LoggedEntry } from './frame.ts'
import { hashing } from './hashing.ts'
import type { Sealer } from './keys.ts'
import type { LogReader } from './log-files.ts'
import type { Flaw } from './segment.ts'
import type { Baseline } from './signed-head.ts'

/** State of the log at some size, from outside the entries. */
export type Anchor = {
  readonly size: number
  readonly root?: string
  readonly head?: string
  /** As it is named in a finding: `the signed head`, `checkpoint 2000`. */
  readonly source: string
}

export type Found = {
  readonly fault: Fault | null
  readonly state: LogState
  /** Hashes of the leaves, 32 bytes each, where they were asked for. */
  readonly leaves?: Uint8Array
}

/** Entries of a chain from a number on, as they lie. */
export type Entries = (
  chain: string,
  from: number,
) => AsyncIterable<readonly LoggedEntry[]> | Iterable<readonly LoggedEntry[]>

/** Question about a chain, as data that can be handed to another thread. */
export type ChainQuestion = {
  readonly chain: string
  readonly from: LogState
  /** Whether to compute roots; without, anchors with a root only are passed over. */
  readonly tree: boolean
  readonly anchors: readonly Anchor[]
  /** How far to go: the size that is expected. Without it, to the end, wherever that is. */
  readonly through?: number
  /** The size that is expected at least, where the log may have grown since. */
  readonly atLeast?: number
  readonly baseline?: Baseline | null
  /** Whether the hashes of the leaves are wanted, for a tree that is made elsewhere. */
  readonly leaves?: boolean
}

/** Files of a chain, for what its entries do not show. */
export type ChainFiles = Pick<LogReader, 'flaws' | 'headers'>

export type Question = ChainQuestion & {
  readonly entries: Entries
  /** None for copies and exports. */
  readonly files?: ChainFiles | null
  /** Checks the seal of each entry: who has no key cannot rewrite one and recompute the hashes after it. */
  readonly sealer?: Sealer | null
  readonly signal?: AbortSignal
  /** Must resolve with a state up to which the chain is sound; the walk goes on from there. */
  readonly passParts?: (parted: Parted) => Promise<LogState>
}

/** A question by the segments that it goes through. */
export type Parted = {
  readonly question: ChainQuestion
  readonly start: LogState
  /** Where segments end, with the head that the next one claims. */
  readonly ends: readonly Anchor[]
  readonly anchors: readonly Anchor[]
}

/** Entries between two turns of the event loop: a few milliseconds. */
const sliceEntries = 512

/** Compares the root too where there is a tree to compare it with. */
const agrees = (anchor: Anchor, state: LogState, root: (() => string) | null): boolean =>
  (anchor.head === undefined || anchor.head === state.head) &&
  (anchor.root === undefined || root === null || anchor.root === root())

/** Gives the event loop its turn now and then. */
const breather = (signal: AbortSignal | undefined) => {
  let since = 0
  return async (entries: number): Promise<void> => {
    since += entries
    if (since < sliceEntries) return
    since = 0
    await nextTurn()
    signal?.throwIfAborted()
  }
}

/**
 * Re-hashes a chain and compares it with its anchors, in slices. Files of the chain must have nothing beside the
 * entries: of both findings the one that comes first counts.
 */
export const verifyChain = async (question: Question): Promise<Found> => {
  const { baseline, chain, files, from } = question
  const start =
    baseline && from.size < baseline.size && (await unchanged(question, baseline)) ? baseline : from
  // Entries that a running service wrote meanwhile are not asked about.
  const limit = question.through ?? question.atLeast ?? Number.POSITIVE_INFINITY
  const headers = files?.headers(start.size).map(anchorOf) ?? []
  const ends = headers.filter(({ size }) => size <= limit)
  const anchors = [...question.anchors, ...ends]
  // Parts that are sound are passed over; where one is not, the walk finds what is wrong, and where.
  const sound = (await question.passParts?.({ question, start, ends, anchors })) ?? start
  const found = await walk(question, sound, anchors)
  const end = Math.min(limit, found.fault?.seq ?? limit)
  // Of a frame that is not as it was written, the entry that is not says more.
  const flaw = files
    ?.flaws(chain, sound.size, end)
    .find(({ through = 0 }) => found.fault === null || through <= found.fault.seq)
  return flaw ? { ...found, fault: await faultOf(question, flaw) } : found
}

type Begin = ReturnType<ChainFiles['headers']>[number]

const anchorOf = ({ file, header }: Begin): Anchor => {
  const { first, head, root } = header
  return { size: first, head, root, source: `the header of ${path.basename(file)}` }
}

const faultOf = async ({ entries, chain }: Question, flaw: Flaw): Promise<Fault> => {
  const { file, at, seq, what } = flaw
  let id: string | null = null
  search: for await (const group of entries(chain, seq))
    for (const entry of group) {
      id = idOf(entry)
      break search
    }
  return { kind: 'modified', seq, id, detail: `${path.basename(file)}, byte ${at}: ${what}` }
}

const walk = async (
  question: Question,
  start: LogState,
  all: readonly Anchor[],
): Promise<Found> => {
  const { entries, chain, tree, sealer, signal } = question
  const leaves = question.leaves ? collectLeaves() : null
  const verifier = createRangeVerifier(hashing, start, { tree, ...leaves })
  const anchors = all
    .filter((a) => a.size > start.size && (tree || a.head !== undefined))
    .toSorted((a, b) => a.size - b.size)
  const through = question.through ?? Number.MAX_SAFE_INTEGER
  const breathe = breather(signal)
  let state: LogState = start
  let agreed = start.size
  let last: LoggedEntry | undefined
  const root = tree ? () => verifier.root() : null
  const found = (fault: Fault | null): Found => ({
    fault,
    state,
    ...(leaves ? { leaves: leaves.all() } : {}),
  })

  for await (const group of entries(chain, start.size)) {
    for (let from = 0; from < group.length && state.size < through; ) {
      const stop = Math.min(through, anchors[0]?.size ?? through)
      const part = group.slice(from, from + Math.max(1, stop - state.size))
      const fault = verifier.take(part, group) ?? (sealer ? wrongSeal(part, sealer) : null)
      state = verifier.state()
      last = part.at(-1)
      from += part.length
      if (fault) return found(fault)
      while (anchors[0]?.size === state.size) {
        const anchor = anchors.shift() as Anchor
        if (!agrees(anchor, state, root)) return found(await differs(question, agreed, anchor))
        agreed = state.size
      }
    }
    if (state.size >= through) break
    await breathe(group.length)
  }
  const expected = Math.max(
    question.through ?? question.atLeast ?? 0,
    ...anchors.map((a) => a.size),
  )
  if (expected <= state.size) return found(null)
  return found(cutOff(state.size, expected, last ?? (await entryBefore(question, state.size))))
}

const entryBefore = async (
  { entries, chain }: Question,
  size: number,
): Promise<LoggedEntry | undefined> => {
  for await (const group of entries(chain, size - 1))
    return group.find(({ seq }) => seq === size - 1)
  return undefined
}

const collectLeaves = () => {
  let bytes = Buffer.alloc(64 * 1024)
  let end = 0
  return {
    leaf(hash: string): void {
      if (end + 32 > bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(bytes.length)])
      end += bytes.write(hash, end, 'hex')
    },
    all: (): Uint8Array => new Uint8Array(bytes.subarray(0, end)),
  }
}

/** Entries of copies and exports have no seal. */
const wrongSeal = (entries: readonly LoggedEntry[], sealer: Sealer): Fault | null => {
  const wrong = entries.find(({ hash, seal }) => seal !== '' && seal !== sealer.seal(hash))
  if (!wrong) return null
  const detail = 'the seal of the entry is not of this service'
  return { kind: 'modified', seq: wrong.seq, id: idOf(wrong), detail }
}

const differs = async (question: Question, from: number, anchor: Anchor): Promise<Fault> => {
  const { entries, chain, sealer } = question
  const detail = `entries ${from} to ${anchor.size - 1} are not those that ${anchor.source} was made over`
  let first: LoggedEntry | undefined
  search: for await (const group of entries(chain, from))
    for (const entry of group) {
      if (entry.seq >= anchor.size) break search
      first ??= entry
      if (sealer && sealer.seal(entry.hash) !== entry.seal)
        return { kind: 'modified', seq: entry.seq, id: idOf(entry), detail }
    }
  return { kind: 'modified', seq: from, id: first ? idOf(first) : null, detail }
}

/** The entry named is the last one left: the first one gone has no id any more. */
export const cutOff = (size: number, expected: number, last: LoggedEntry | undefined): Fault => ({
  kind: 'truncated',
  seq: size,
  id: last ? idOf(last) : null,
  detail: `${goneText(expected - size)} from seq ${size} on`,
})

/** The frontier of a state that is trusted holds the roots of smaller trees too. */
export const peakAnchors = (state: LogState): Anchor[] => {
  const anchors: Anchor[] = []
  let size = 0
  for (const [i] of state.peaks.entries()) {
    let peak = 1
    while (peak * 2 <= state.size - size) peak *= 2
    size += peak
    const root = rootOf(hashing, state.peaks.slice(0, i + 1))
    anchors.push({ size, root, source: 'the signed head' })
  }
  return anchors
}

/** `all`: of entries and of what lies between them in files. `entries`: of them alone, which is all that an export has. */
export type LogDigest = { readonly all: string; readonly entries: string }

/** Digest of the log before `size`, whether it verifies or not. */
export const digestLog = async (
  { entries, files }: Pick<Question, 'entries' | 'files'>,
  chain: string,
  size: number,
  signal?: AbortSignal,
): Promise<LogDigest> => {
  const digest = createHash('sha256')
  const breathe = breather(signal)
  // Copies may have numbers that no entry of ours has.
  const first = files ? 0 : Number.MIN_SAFE_INTEGER
  all: for await (const group of entries(chain, first)) {
    for (const { seq, hash, body } of group) {
      if (seq >= size) break all
      digest.update(`${seq} ${hash} ${body}\n`)
    }
    await breathe(group.length)
  }
  const ofEntries = digest.copy().digest('hex')
  for (const { file, at, seq, what } of files?.flaws(chain) ?? [])
    if (seq < size) digest.update(`${path.basename(file)} ${at} ${what}\n`)
  return { all: digest.digest('hex'), entries: ofEntries }
}

const unchanged = async (question: Question, { size, digest }: Baseline): Promise<boolean> =>
  (await digestLog(question, question.chain, size, question.signal)).all === digest

/** The hash of an entry by its number; null where it is not there. */
export const hashAt = async (
  { entries }: { readonly entries: Entries },
  chain: string,
  seq: number,
): Promise<string | null> => {
  for await (const group of entries(chain, seq))
    return group.find((entry) => entry.seq === seq)?.hash ?? null
  return null
}
