import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { canonical } from '../domain/audit/canonical.ts'
import type { LogState } from '../domain/audit/chain.ts'
import { rootOf } from '../domain/audit/merkle.ts'
import { createRangeVerifier, type Fault } from '../domain/audit/verify-range.ts'
import type { AuditRows } from '../ports/audit-rows.ts'
import { hashing } from './hashing.ts'
import type { Baseline } from './mark.ts'
import { readTrail } from './trail.ts'

/** Something outside the rows that says what the log was at some size. */
export type Anchor = {
  readonly size: number
  readonly root?: string
  readonly head?: string
  /** As it is named in a finding: `the high-water mark`, `checkpoint 2000`. */
  readonly source: string
}

export type Found = { readonly fault: Fault | null; readonly state: LogState }

/** What is asked of a chain, as data that can be handed to another thread. */
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
  /** Where a trail may lie that tells which entry of a range was the first to change. */
  readonly directory?: string
}

type Question = ChainQuestion & {
  readonly rows: Pick<AuditRows, 'range'>
  readonly signal?: AbortSignal
}

/** Hashes stored entries again, on this thread or on another one. */
export interface ChainVerifier {
  verify(question: ChainQuestion, signal: AbortSignal): Promise<Found>

  /** Must resolve with the digest of `digestRows`. */
  digest(chain: string, size: number, signal: AbortSignal): Promise<string>
}

/** On this thread, in slices. */
export const verifierOf = (rows: Question['rows']): ChainVerifier => ({
  verify: (question, signal) => verifyChain({ ...question, rows, signal }),
  digest: (chain, size, signal) => digestRows(rows, chain, size, signal),
})

/** Rows in a slice: a few milliseconds, after which the event loop gets its turn. */
const sliceRows = 256

const agrees = (anchor: Anchor, state: LogState, root: () => string): boolean =>
  (anchor.head === undefined || anchor.head === state.head) &&
  (anchor.root === undefined || anchor.root === root())

/** Re-hashes a chain and compares it with its anchors, in slices. */
export const verifyChain = async (question: Question): Promise<Found> => {
  const { rows, chain, tree, baseline } = question
  const start =
    baseline && question.from.size < baseline.size && (await unchanged(question, baseline))
      ? baseline
      : question.from
  const verifier = createRangeVerifier(hashing, start, { tree })
  const anchors = question.anchors
    .filter((a) => a.size > start.size && (tree || a.head !== undefined))
    .toSorted((a, b) => a.size - b.size)
  const through = question.through ?? Number.MAX_SAFE_INTEGER
  let state: LogState = start
  let agreed = start.size
  const found = (fault: Fault | null): Found => ({ fault, state })

  while (state.size < through) {
    const stop = Math.min(through, anchors[0]?.size ?? through, state.size + sliceRows)
    const slice = await rows.range(chain, state.size, stop, sliceRows)
    if (slice.length === 0) {
      const [later] = await rows.range(chain, state.size, Number.MAX_SAFE_INTEGER, 1)
      if (!later) break
      return found(verifier.take([later]))
    }
    const fault = verifier.take(slice)
    state = verifier.state()
    if (fault) return found(fault)
    while (anchors[0]?.size === state.size) {
      const anchor = anchors.shift() as Anchor
      if (!agrees(anchor, state, () => verifier.root())) {
        return found(await differs(question, agreed, anchor))
      }
      agreed = state.size
    }
    await nextTurn()
    question.signal?.throwIfAborted()
  }
  const expected = Math.max(
    question.through ?? question.atLeast ?? 0,
    ...anchors.map((a) => a.size),
  )
  return found(expected > state.size ? await cutOff(rows, chain, state.size, expected) : null)
}

const differs = async (question: Question, from: number, anchor: Anchor): Promise<Fault> => {
  const { rows, chain, directory } = question
  const noted = directory === undefined ? () => null : readTrail(directory, from, anchor.size)
  const detail = `entries ${from} to ${anchor.size - 1} are not those that ${anchor.source} was made over`
  for (let at = from; at < anchor.size; at += sliceRows) {
    for (const row of await rows.range(
      chain,
      at,
      Math.min(at + sliceRows, anchor.size),
      sliceRows,
    )) {
      const hash = noted(row.seq)
      if (hash === null || row.hash.startsWith(hash)) continue
      return { kind: 'modified', seq: row.seq, id: row.id, detail }
    }
  }
  const [first] = await rows.range(chain, from, from + 1, 1)
  return { kind: 'modified', seq: from, id: first?.id ?? null, detail }
}

/** The entry named is the last one left: the first one gone has no id any more. */
export const cutOff = async (
  rows: Question['rows'],
  chain: string,
  size: number,
  expected: number,
): Promise<Fault> => ({
  kind: 'truncated',
  seq: size,
  id: (await rows.range(chain, size - 1, size, 1))[0]?.id ?? null,
  detail: `${expected - size} entries are gone from seq ${size} on`,
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
    anchors.push({ size, root, source: 'the high-water mark' })
  }
  return anchors
}

/** What the rows before `size` are, columns and all, whether they verify or not. */
export const digestRows = async (
  rows: Pick<AuditRows, 'range'>,
  chain: string,
  size: number,
  signal?: AbortSignal,
): Promise<string> => {
  const digest = createHash('sha256')
  for (let from = 0; from < size; ) {
    const slice = await rows.range(chain, from, size, sliceRows)
    for (const row of slice) digest.update(`${canonical({ ...row })}\n`)
    const last = slice.at(-1)
    if (!last) break
    from = last.seq + 1
    await nextTurn()
    signal?.throwIfAborted()
  }
  return digest.digest('hex')
}

const unchanged = async (
  { rows, chain, signal }: Question,
  { size, digest }: Baseline,
): Promise<boolean> => (await digestRows(rows, chain, size, signal)) === digest
