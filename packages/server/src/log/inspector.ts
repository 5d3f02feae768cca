import { GatehouseError, type Integrity } from '@gatehouse/contract'
import type { LogState } from '../domain/audit/chain.ts'
import type { Fault } from '../domain/audit/verify-range.ts'
import { describeSystemFailure } from '../domain/system-failure.ts'
import type { OtherChains } from '../ports/audit-rows.ts'
import type { Clock } from '../ports/clock.ts'
import type { AcceptedLogs } from './accepted-logs.ts'
import type { ChainStarts } from './chain-starts.ts'
import type { ChainVerifier } from './chain-verifier.ts'
import { findCopyBeyond } from './check-copies.ts'
import type { LogFiles } from './log-files.ts'
import { type Finding, OtherLogs } from './other-logs.ts'
import type { Recorder } from './recorder.ts'
import { type LogStart, removedOf } from './removals.ts'
import type { HeadFile } from './signed-head.ts'
import type { Roots } from './signed-roots.ts'
import {
  type Anchor,
  type ChainQuestion,
  type Found,
  type LogDigest,
  peakAnchors,
} from './verify-chain.ts'
import type { Writer } from './writer.ts'

/** Up to this size a query re-hashes the whole log, whether or not anything looks changed. */
const wholeMax = 20_000

/** Up to so many entries are hashed on this thread: another one would take longer to be asked. */
export const inlineEntriesMax = 512

export type InspectorParts = {
  /** Chains of other processes that nobody else verifies. */
  readonly others: OtherChains
  readonly starts: ChainStarts
  /** States of other logs that people accepted. */
  readonly accepted: AcceptedLogs
  readonly roots: Pick<Roots, 'check' | 'confirmed' | 'failure'>
  readonly chain: string
  /** Where the log begins by now. */
  readonly start: () => LogStart
  readonly clock: Clock
  readonly writer: Writer
  readonly files: LogFiles
  readonly head: Pick<HeadFile, 'intact' | 'restore'>
  readonly recorder: Pick<Recorder, 'told'>
  /** Finding that the store tells others something else of this log than this service did, one after the other. */
  readonly checkTold: readonly (() => Promise<Fault | null>)[]
  /** Makes the copies of this node's entries anew; null where there are none. */
  readonly rebuildCopies: (() => Promise<void>) | null
  /** Makes the index of other nodes' chains anew when it is next asked. */
  readonly forgetOthers: () => void
  readonly checkpoints: () => readonly Anchor[]
  /** On this thread. */
  readonly here: ChainVerifier
  /** Takes what is longer than `inlineEntriesMax`. */
  readonly elsewhere: ChainVerifier
  /** Ends a verification under way when the service stops. */
  readonly signal: AbortSignal
}

/** Parts of an inspection that go beyond what was verified before. */
export type Reach = {
  /** The log of this process, compared with the roots of its checkpoints as well. */
  readonly tree: boolean
  /** And the entries of others from their beginning, however many there are. */
  readonly others: boolean
}

export const everything: Reach = { tree: true, others: true }

type Want = Reach & { readonly whole: boolean }

const nothingMore: Reach = { tree: false, others: false }

/** Knows how far the log has been verified, and verifies what is missing. */
export interface Inspector {
  /**
   * Must see every change that was there when it was called. With a reach the log of this process is read from its beginning,
   * whether or not anything looks changed.
   */
  inspect(reach?: Reach): Promise<Integrity>

  /** The same for whoever has looked just now. */
  inspectSeen(): Promise<Integrity>

  /** Must see to it that what is read from now on is what lies on the disk now. */
  look(): Promise<void>

  /** Integrity for an answer when a finding of its own comes on top. */
  report(fault: Finding | null): Integrity

  /** Forgets what was verified: the next inspection starts over. */
  forget(): void

  /** Must inspect anew where a person accepted, at another node, the log that the finding is in. */
  follow(): Promise<void>

  /** Must resolve with the digest of the log before `size`. */
  digest(size: number): Promise<LogDigest>

  /** Must run the work while no verification is under way, and let none begin meanwhile. */
  quiet<T>(work: () => Promise<T>): Promise<T>

  /** Why the last verification could not be carried out; null where it could. */
  failure(): string | null
}

export const createInspector = (parts: InspectorParts): Inspector => {
  const { others, accepted, rebuildCopies, chain, clock, writer, signal, here, elsewhere } = parts
  /** Where the log of this process is sound up to. */
  let verified: LogState | null = null
  let verifiedAt = clock.wall()
  let fault: Finding | null = null
  let failure: string | null = null
  /** Grows when somebody else may have changed log or copies; `seen` is what the last complete run began with. */
  let changes = 0
  let seen = -1
  /** The run under way, and the one that begins after it for those who came too late for that. */
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null
  const none: Want = { whole: false, ...nothingMore }
  let wanted = none

  const report: Inspector['report'] = (own) => {
    const { alarm, baseline } = writer.standing
    const wrong: Finding | null = alarm ?? fault ?? own
    const root = parts.roots.confirmed
    const known = {
      verified_through: (verified?.size ?? 0) - 1,
      verified_at: new Date(verifiedAt).toISOString(),
      ...removedOf(parts.start()),
    }
    if (!wrong) {
      const limits = [
        ...(baseline
          ? [`entries before ${baseline.size} are as damaged as they were acknowledged`]
          : []),
        ...[...accepted.used.values()].map(
          ({ chain: log, accepted_at: at }) => `the log of ${log} is as it was accepted at ${at}`,
        ),
        ...(parts.roots.failure ? [parts.roots.failure] : []),
      ]
      const detail = limits.length > 0 ? { detail: limits.join('; ') } : {}
      return { integrity: 'verified', ...detail, ...known, ...(root ? { root } : {}) }
    }
    return {
      integrity: 'failed',
      kind: wrong.kind,
      ...(wrong.id === null ? {} : { first_bad_id: wrong.id }),
      first_bad_seq: wrong.seq,
      ...(wrong.log === undefined ? {} : { first_bad_log: wrong.log }),
      ...(wrong.accepted === undefined ? {} : { accepted_before: wrong.accepted }),
      detail: wrong.detail,
      ...known,
    }
  }

  /** Goes on from what was verified of each chain, or from the start. */
  const run = async (want: Want): Promise<void> => {
    const { whole, tree } = want
    const { state, baseline } = writer.standing
    const anchors = [{ size: state.size, head: state.head, source: 'this service' }]
    const begin = parts.start().state
    const from = whole ? begin : (verified ?? begin)
    const began = changes
    const question = { chain, from, through: state.size, baseline }
    const all = () => [...anchors, ...peakAnchors(state), ...parts.checkpoints()]
    let own = await verify({ ...question, tree, anchors: tree ? all() : anchors }, state.size)
    if (own.fault && whole && !tree) {
      // Sound hashes that lead to another head: the roots tell where that begins.
      own = await verify({ ...question, tree: true, anchors: all() }, state.size)
    }
    verified = own.state
    // Of a damaged log there is nothing to compare the copies with.
    if (rebuildCopies && whole && !own.fault && areCopiesDue(state.size, tree)) {
      await compareCopies(state.size, rebuildCopies)
      copiesSeen = began
    }
    fault = own.fault ?? (await findInOthers(want)) ?? (await findUnderRoots())
    if (whole) seen = began
    verifiedAt = clock.wall()
  }

  /** Value of `changes` when the copies were last compared. */
  let copiesSeen = -1

  /** Of a long log, when nobody else wrote since the last time, or when the log itself is asked about, it is left out. */
  const areCopiesDue = (size: number, tree: boolean): boolean =>
    size <= wholeMax || (copiesSeen !== changes && (changes > 0 || !tree))

  const choose = (entries: number): ChainVerifier => (entries > inlineEntriesMax ? elsewhere : here)

  const verify = (question: ChainQuestion, end: number): Promise<Found> =>
    choose(end - question.from.size).verify(question, signal)

  const otherLogs = new OtherLogs({ others, starts: parts.starts, accepted, own: chain, verify })

  const findInOthers = (want: Want): Promise<Finding | null> =>
    otherLogs.find({ all: want.others, few: want.whole ? wholeMax : null, changes })

  const findUnderRoots = async (): Promise<Finding | null> => {
    const misfit = await parts.roots.check()
    if (misfit === null) return null
    const { log, ...found } = misfit
    const entry = (await accepted.find(log))?.entry
    return log === chain ? found : { ...found, log, ...(entry ? { accepted: entry } : {}) }
  }

  /** A difference is reported once, until it is acknowledged; the copies are made anew from the log. */
  const compareCopies = async (size: number, rebuild: () => Promise<void>): Promise<void> => {
    // Entries that were not copied yet are no difference.
    const through = Math.min(size, parts.recorder.told())
    const looks = [
      () => choose(through).checkCopies({ chain, through }, signal),
      () => findCopyBeyond(others, chain, () => writer.standing.state.size),
      ...parts.checkTold,
    ]
    let fault: Fault | null = null
    for (const look of looks) fault ??= await look()
    if (!fault) return
    writer.raise(fault)
    await writer.exclusive(rebuild)
  }

  /** A run that breaks off has verified nothing: the next one begins anew. */
  const attempt = async (want: Want): Promise<void> => {
    try {
      await run(want)
      failure = null
    } catch (cause) {
      seen = -1
      if (!signal.aborted) {
        const said = cause instanceof GatehouseError ? cause.message : describeSystemFailure(cause)
        failure = `the audit log could not be verified: ${said}`
      }
      throw cause
    }
  }

  /** One run serves everyone who asked before it began; the next one everyone who came too late. */
  const share = (want: Want): Promise<void> => {
    wanted = {
      whole: wanted.whole || want.whole,
      tree: wanted.tree || want.tree,
      others: wanted.others || want.others,
    }
    next ??= (running ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => {
        const want = wanted
        wanted = none
        next = null
        running = attempt(want).finally(() => {
          running = null
        })
        return running
      })
    return next
  }

  const checkHead = (): void => {
    if (parts.head.intact()) return
    const { size } = writer.standing.state
    parts.head.restore()
    writer.raise({
      kind: 'anchor_missing',
      seq: Math.max(0, size - 1),
      id: null,
      detail: 'the signed head was removed or altered while the service ran',
    })
    writer.change({})
  }

  /** Files that somebody else changed are read anew, and entries that were put in are moved out. */
  const look = async (): Promise<void> => {
    checkHead()
    if (parts.files.takeForeign()) {
      changes += 1
      // In this turn: the next group would be written behind what is to go, and would go with it.
      writer.evict()
    }
    if (await others.takeForeign()) {
      changes += 1
      parts.forgetOthers()
    }
  }

  const inspectSeen = async (reach?: Reach): Promise<Integrity> => {
    const whole = reach !== undefined || writer.standing.state.size <= wholeMax || seen !== changes
    if (whole || !fault) await share({ whole, ...(reach ?? nothingMore) })
    return report(null)
  }

  const quiet = async <T>(work: () => Promise<T>): Promise<T> => {
    while (next || running) await (next ?? running)?.catch(() => undefined)
    const done = work()
    running = done.then(
      () => undefined,
      () => undefined,
    )
    try {
      return await done
    } finally {
      running = null
    }
  }

  return {
    report,
    quiet,
    forget() {
      changes += 1
    },
    async follow() {
      if (fault?.log === undefined) return
      const entry = (await accepted.find(fault.log))?.entry
      if (entry === undefined || entry === fault.accepted) return
      changes += 1
      await inspectSeen()
    },
    digest: (size) => choose(size).digest(chain, size, signal),
    failure: () => failure,
    look,
    async inspect(reach) {
      await look()
      return inspectSeen(reach)
    },
    inspectSeen,
  }
}
