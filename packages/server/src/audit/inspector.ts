import { GatehouseError, type Integrity } from '@gatehouse/contract'
import { emptyLog, type LogState } from '../domain/audit/chain.ts'
import type { Fault } from '../domain/audit/verify-range.ts'
import { describeSystemFailure } from '../domain/system-failure.ts'
import type { Clock } from '../ports/clock.ts'
import type { Storage } from '../ports/storage.ts'
import type { Alarm, MarkFile } from './mark.ts'
import {
  type Anchor,
  type ChainQuestion,
  type ChainVerifier,
  type Found,
  peakAnchors,
  verifierOf,
} from './verify-chain.ts'
import type { Writer } from './writer.ts'

/** Up to this size a query re-hashes the whole log, whether or not anything looks changed. */
const wholeMax = 20_000

/** Up to so many rows are hashed on this thread: another one would take longer to be asked. */
export const inlineRowsMax = 512

export type InspectorParts = {
  readonly storage: Storage
  readonly chain: string
  readonly clock: Clock
  readonly writer: Writer
  readonly mark: Pick<MarkFile, 'intact' | 'restore'>
  readonly checkpoints: () => readonly Anchor[]
  /** Takes what is longer than `inlineRowsMax`. */
  readonly verifier: ChainVerifier
  /** Ends a verification under way when the service stops. */
  readonly signal: AbortSignal
  readonly directory: string
}

type Want = { readonly whole: boolean; readonly tree: boolean }

/** Knows how far the log has been verified, and verifies what is missing. */
export interface Inspector {
  /**
   * Must see every change that was there when it was called. `whole`: whether or not anything looks
   * changed; `tree`: and compare roots with the checkpoints.
   */
  inspect(reach?: 'whole' | 'tree'): Promise<Integrity>

  /** What an answer says when a finding of its own comes on top. */
  report(fault: Fault | Alarm | null): Integrity

  /** Forgets what was verified: the next inspection starts over. */
  forget(): void

  /** Must resolve with the digest of the entries before `size`. */
  digest(size: number): Promise<string>

  /** Why the last verification could not be carried out; null where it could. */
  failure(): string | null
}

export const createInspector = (parts: InspectorParts): Inspector => {
  const { storage, chain, clock, writer, signal, directory } = parts
  const rows = storage.auditRows
  const verified = new Map<string, LogState>()
  let verifiedAt = clock.wall()
  let fault: Fault | null = null
  let failure: string | null = null
  /** Grows when somebody else may have changed the store; `seen` is what the last whole run began with. */
  let changes = 0
  let seen = -1
  /** The run under way, and the one that begins after it for those who came too late for that. */
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null
  let wanted: Want = { whole: false, tree: false }

  const report: Inspector['report'] = (own) => {
    const { alarm, baseline } = writer.standing
    const wrong = alarm ?? fault ?? own
    const known = {
      verified_through: (verified.get(chain)?.size ?? 0) - 1,
      verified_at: new Date(verifiedAt).toISOString(),
    }
    if (!wrong) {
      const accepted = baseline && {
        detail: `entries before ${baseline.size} are as damaged as they were acknowledged`,
      }
      return { integrity: 'verified', ...accepted, ...known }
    }
    return {
      integrity: 'failed',
      kind: wrong.kind,
      ...(wrong.id === null ? {} : { first_bad_id: wrong.id }),
      first_bad_seq: wrong.seq,
      detail: wrong.detail,
      ...known,
    }
  }

  /** Goes on from what was verified of each chain, or from the start. */
  const run = async (whole: boolean, tree: boolean): Promise<void> => {
    const { state, baseline } = writer.standing
    // Another connection sees only what is stored.
    await storage.promises?.settle()
    const anchors = [{ size: state.size, head: state.head, source: 'this service' }]
    const from = (name: string) => (whole ? emptyLog : (verified.get(name) ?? emptyLog))
    const began = changes
    const question = { chain, from: from(chain), through: state.size, baseline, directory }
    const all = [...anchors, ...peakAnchors(state), ...parts.checkpoints()]
    let own = await verify({ ...question, tree, anchors: tree ? all : anchors }, state.size)
    if (own.fault && whole && !tree) {
      // Sound hashes that lead to another head: the roots tell where that begins.
      own = await verify({ ...question, tree: true, anchors: all }, state.size)
    }
    verified.set(chain, own.state)
    let found = own.fault ?? (await surplus(state, whole))
    const others = whole || verified.size > 1 ? await otherChains() : []
    for (const { chain: name, next: end } of found ? [] : others) {
      if (!whole && !verified.has(name)) continue
      const question = { chain: name, from: from(name), tree: false, anchors: [] }
      const other = await verify(question, end)
      verified.set(name, other.state)
      found ??= other.fault
    }
    fault = found
    if (whole) seen = began
    verifiedAt = clock.wall()
  }

  const here = verifierOf(rows)

  const verify = (question: ChainQuestion, end: number): Promise<Found> =>
    (end - question.from.size > inlineRowsMax ? parts.verifier : here).verify(question, signal)

  /** A run that breaks off has verified nothing: the next one begins anew. */
  const attempt = async (want: Want): Promise<void> => {
    try {
      await run(want.whole, want.tree)
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

  /**
   * Entries where none may be: before the first, after the last, or in a chain that nobody writes. They are moved
   * out of the log under an alarm; what is returned could not be.
   */
  const surplus = async (expected: LogState, whole: boolean): Promise<Fault | null> => {
    const [before] = await rows.range(chain, Number.MIN_SAFE_INTEGER, 0, 1)
    const ends = async () => (await rows.head(chain))?.seq ?? -1
    const goesOn =
      (await ends()) >= expected.size && (await quietly(ends)) >= writer.standing.state.size
    const end = Number.MAX_SAFE_INTEGER
    const [after] = goesOn ? await rows.range(chain, writer.standing.state.size, end, 1) : []
    const strangers = whole && storage.engine !== 'postgres' ? await otherChains() : []
    const first =
      before ?? after ?? (strangers[0] && (await rows.range(strangers[0].chain, -end, end, 1))[0])
    if (!first) return null
    try {
      await writer.takeOut(strangers.map((stranger) => stranger.chain))
      return null
    } catch {
      const { seq, id } = first
      return { kind: 'inserted', seq, id, detail: 'this service did not write this entry' }
    }
  }

  const otherChains = async () => (await rows.ends()).filter((other) => other.chain !== chain)

  /** Asks between two commits; -1 while the log cannot be written, when nothing is known for certain. */
  const quietly = (ask: () => Promise<number>): Promise<number> =>
    writer.exclusive(ask).catch(() => -1)

  /** One run serves everyone who asked before it began; the next one everyone who came too late. */
  const share = (want: Want): Promise<void> => {
    wanted = { whole: wanted.whole || want.whole, tree: wanted.tree || want.tree }
    next ??= (running ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => {
        const want = wanted
        wanted = { whole: false, tree: false }
        next = null
        running = attempt(want).finally(() => {
          running = null
        })
        return running
      })
    return next
  }

  const checkMark = (): void => {
    if (parts.mark.intact()) return
    const { size } = writer.standing.state
    parts.mark.restore()
    writer.raise({
      kind: 'anchor_missing',
      seq: size - 1,
      id: null,
      detail: 'the high-water mark was removed or altered while the service ran',
    })
    writer.settle({})
  }

  return {
    report,
    forget() {
      changes += 1
    },
    async digest(size) {
      await storage.promises?.settle()
      return (size > inlineRowsMax ? parts.verifier : here).digest(chain, size, signal)
    },
    failure: () => failure,
    async inspect(reach) {
      if (storage.promises?.isBlocked) await writer.takeOut()
      // Making the mark's file anew forgets what is kept in it.
      await storage.promises?.settle()
      checkMark()
      if (await storage.foreignChange()) changes += 1
      const whole =
        reach !== undefined || writer.standing.state.size <= wholeMax || seen !== changes
      if (whole || !fault) await share({ whole, tree: reach === 'tree' })
      return report(null)
    },
  }
}
