import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { GatehouseError, type RetentionStatus } from '@gatehouse/contract'
import { createLinker, type LogState } from '../domain/audit/chain.ts'
import { plainDraft } from '../domain/audit/entry.ts'
import { rootOf } from '../domain/audit/merkle.ts'
import type { Fault } from '../domain/audit/verify-range.ts'
import { describeSystemFailure } from '../domain/system-failure.ts'
import type { AuditCopies } from '../ports/audit-rows.ts'
import type { Clock } from '../ports/clock.ts'
import type { ChainVerifier } from './chain-verifier.ts'
import { hashing } from './hashing.ts'
import type { Inspector } from './inspector.ts'
import type { Keys } from './keys.ts'
import type { LogFiles, SealedSegment } from './log-files.ts'
import { rowOfEntry } from './read-groups.ts'
import { addRemoval, type LogStart, type RemovedSegment, removedOf } from './removals.ts'
import type { Anchor } from './verify-chain.ts'
import type { Writer } from './writer.ts'

/** How long entries are kept, and who must have them before they go. */
export type RetentionRules = {
  /** Null: whatever their age. */
  readonly maxAgeMs: number | null
  /** Null: whatever the size of the log. */
  readonly maxBytes: number | null
  /** Targets that entries are exported to, each with the number of the first entry that it lacks. */
  readonly exported: () => readonly { readonly name: string; readonly next: number }[]
}

const keepEverything: RetentionRules = { maxAgeMs: null, maxBytes: null, exported: () => [] }

export type RetentionParts = {
  /** Without any, everything is kept for ever. */
  readonly rules: RetentionRules | undefined
  readonly files: Pick<LogFiles, 'bytes' | 'entry' | 'removeBefore' | 'sealed'>
  readonly directory: string
  readonly chain: string
  readonly keys: Keys
  /** Copies of the entries for other nodes; null where there are none. */
  readonly copies: Pick<AuditCopies, 'removals' | 'removeBefore'> | null
  readonly clock: Clock
  readonly writer: Pick<Writer, 'append' | 'change' | 'standing'>
  readonly inspector: Pick<Inspector, 'inspect' | 'quiet'>
  readonly verifier: Pick<ChainVerifier, 'verify'>
  readonly checkpoints: () => readonly Anchor[]
  /** The first entry that the store may not have been told of. */
  readonly told: () => number
  /** Intents without an outcome so far, by number. */
  readonly openSeqs: () => readonly number[]
  /** Where the log begins, and what to do when that changes. */
  readonly start: () => LogStart
  readonly moved: (start: LogStart) => Promise<void>
  readonly signal: AbortSignal
}

type By = { readonly actor: string; readonly request_id: string }

type Due = {
  readonly segments: readonly SealedSegment[]
  readonly reason: 'age' | 'size'
}

const dayMs = 86_400_000
/** Segments that go at once at most: the entry about them names each. */
const segmentsMax = 32

const sha256Of = async (file: string): Promise<string> => {
  const hash = createHash('sha256')
  for await (const piece of fs.createReadStream(file)) hash.update(piece as Buffer)
  return hash.digest('hex')
}

const system = { actor: 'system', request_id: '' } as const

const describe = async ({ file, first, end }: SealedSegment): Promise<RemovedSegment> => ({
  first,
  entries: end - first,
  bytes: fs.statSync(file).size,
  sha256: await sha256Of(file),
})

/**
 * Takes the oldest segments out of the log once they are older, or the log is larger, than the settings say. What is
 * left goes on from a signed state, so that it verifies without them.
 */
export class Retention {
  readonly #parts: RetentionParts
  readonly #rules: RetentionRules
  readonly #lastTimes = new Map<number, number>()
  #holds = 0
  #failure: string | null = null
  /** The size before which no copies are left. */
  #copiesFrom = 0
  /** One goes on after the other: both would find the same segments due. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(parts: RetentionParts) {
    this.#parts = parts
    this.#rules = parts.rules ?? keepEverything
  }

  /** Why what is due stays, where that is a failure. */
  get failure(): string | null {
    return this.#failure
  }

  status(): RetentionStatus {
    const { files, writer, start } = this.#parts
    const { maxAgeMs, maxBytes, exported } = this.#rules
    const due = this.#due()
    const { segments, held } = due ? this.#allowed(due) : { segments: [], held: null }
    const { size } = start().state
    const first = files.entry(size)
    return {
      max_age_days: maxAgeMs === null ? null : maxAgeMs / dayMs,
      max_bytes: maxBytes,
      bytes: files.bytes(),
      entries: writer.standing.state.size - size,
      oldest: (first && rowOfEntry(first)?.timestamp) ?? null,
      due_entries: (due?.segments.at(-1)?.end ?? size) - size,
      removable_entries: (segments.at(-1)?.end ?? size) - size,
      held_by: held,
      exported_to: exported().map(({ name }) => name),
      ...removedOf(start()),
    }
  }

  /** Removes what is due and may go, after an entry that says so; null where there is nothing. */
  apply(by: By = system): Promise<LogStart | null> {
    const applied = this.#last.then(() => this.#apply(by))
    this.#last = applied.catch(() => undefined)
    return applied
  }

  /** Lets nothing be removed until it is disposed: somebody reads the log from its beginning. */
  hold(): Disposable {
    this.#holds += 1
    return {
      [Symbol.dispose]: () => {
        this.#holds -= 1
      },
    }
  }

  /** Removes the copies of entries that are not in the log any more, also those that a failure or a crash left. */
  async removeCopies(): Promise<void> {
    const { copies, start, chain, keys } = this.#parts
    const { signed, state } = start()
    if (!copies || !signed || this.#copiesFrom === state.size) return
    await copies.removeBefore(state.size, { chain, ...signed, public_key: keys.pem })
    this.#copiesFrom = state.size
  }

  /** The same after the copies were made anew. */
  async remakeCopies(): Promise<void> {
    this.#copiesFrom = 0
    await this.removeCopies()
  }

  /** @SECURITY Others skip what the database says was removed: a statement that is not ours is reported; log-of-two-nodes.test.ts. */
  async findForeignStatement(): Promise<Fault | null> {
    const { copies, start, chain } = this.#parts
    const { signed, state } = start()
    if (!copies || (signed && this.#copiesFrom !== state.size)) return null
    const kept = (await copies.removals()).find((one) => one.chain === chain)
    if (kept?.record === signed?.record && kept?.signature === signed?.signature) return null
    const detail =
      'what the database said of removed entries was not what this service signed; it was written anew'
    return { kind: 'modified', seq: state.size, id: null, detail }
  }

  async #apply(by: By): Promise<LogStart | null> {
    try {
      await this.removeCopies()
      const due = this.#due()
      const { segments } = due ? this.#allowed(due) : { segments: [] }
      const start = due && segments.length > 0 ? await this.#remove(segments, due.reason, by) : null
      this.#failure = null
      return start
    } catch (cause) {
      const said = cause instanceof GatehouseError ? cause.message : describeSystemFailure(cause)
      this.#failure = `retention failed: ${said}`
      throw cause
    }
  }

  #due(): Due | null {
    const { files, clock } = this.#parts
    const { maxAgeMs, maxBytes } = this.#rules
    const sealed = files.sealed()
    const isOld = (segment: SealedSegment): boolean =>
      maxAgeMs !== null && this.#lastTimeOf(segment) < clock.now() - maxAgeMs
    const fresh = sealed.findIndex((segment) => !isOld(segment))
    const old = fresh < 0 ? sealed.length : fresh
    let bytes = files.bytes()
    let large = 0
    for (const { file } of maxBytes === null ? [] : sealed) {
      if (bytes <= (maxBytes ?? 0)) break
      bytes -= fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0
      large += 1
    }
    const count = Math.min(segmentsMax, Math.max(old, large))
    if (count === 0) return null
    return { segments: sealed.slice(0, count), reason: old > 0 ? 'age' : 'size' }
  }

  #lastTimeOf({ first, end }: SealedSegment): number {
    const known = this.#lastTimes.get(first)
    if (known !== undefined) return known
    const entry = this.#parts.files.entry(end - 1)
    const time = Date.parse((entry && rowOfEntry(entry)?.timestamp) ?? '')
    // Of an entry that cannot be read the age is not known: it stays, and verification names it.
    const shown = Number.isNaN(time) ? Number.POSITIVE_INFINITY : time
    this.#lastTimes.set(first, shown)
    return shown
  }

  /** The segments that may go by now, and what keeps the rest. */
  #allowed({ segments }: Due): {
    readonly segments: readonly SealedSegment[]
    readonly held: string | null
  } {
    const { writer, told, openSeqs } = this.#parts
    const { alarm, baseline } = writer.standing
    if (alarm) return { segments: [], held: 'the log failed verification' }
    if (this.#holds > 0) return { segments: [], held: 'the log is being exported at the moment' }
    const bounds = [
      ...this.#rules
        .exported()
        .map(({ name, next }) => ({ end: next, held: `${name} does not have it yet` })),
      ...openSeqs().map((end) => ({ end, held: 'a call in it has no outcome yet' })),
      { end: told(), held: 'the store has not been told of it yet' },
    ]
    const bound = bounds.toSorted((a, b) => a.end - b.end)[0]
    const free = segments.filter(({ end }) => end <= (bound?.end ?? end))
    // The digest that an acknowledgement rests on is of all entries before it.
    if (baseline && (free.at(-1)?.end ?? 0) < baseline.size)
      return {
        segments: [],
        held: `entries before ${baseline.size} were acknowledged as damaged, and go together`,
      }
    return { segments: free, held: free.length < segments.length ? (bound?.held ?? null) : null }
  }

  async #remove(
    segments: readonly SealedSegment[],
    reason: Due['reason'],
    by: By,
  ): Promise<LogStart | null> {
    const { inspector } = this.#parts
    const found = await inspector.inspect({ tree: true, others: false })
    if (found.integrity === 'failed') return null
    const state = await this.#stateAt(segments.at(-1)?.end ?? 0)
    const described = await Promise.all(segments.map(describe))
    return inspector.quiet(() => this.#take(state, described, reason, by))
  }

  /** The state of the log at a number, hashed again from its beginning. */
  async #stateAt(size: number): Promise<LogState> {
    const { verifier, chain, start, checkpoints, writer, signal, files } = this.#parts
    const { fault, state } = await verifier.verify(
      {
        chain,
        from: start().state,
        through: size,
        tree: true,
        anchors: checkpoints().filter((anchor) => anchor.size <= size),
        baseline: writer.standing.baseline,
      },
      signal,
    )
    const next = files.entry(size)
    const follows =
      next !== null && createLinker(hashing).link(state.head, size, next.body) === next.hash
    if (!fault && state.size === size && follows) return state
    const detail = fault?.detail ?? 'the entry before it is another one'
    throw new GatehouseError('AuditDamaged', { id: `seq ${size}`, detail })
  }

  async #take(
    state: LogState,
    segments: readonly RemovedSegment[],
    reason: Due['reason'],
    by: By,
  ): Promise<LogStart | null> {
    const { writer, chain, directory, keys, clock, files, moved, start } = this.#parts
    if (this.#holds > 0 || writer.standing.alarm) return null
    const removed = {
      from: start().state.size,
      root: rootOf(hashing, state.peaks),
      reason,
      segments,
      exported_to: this.#rules.exported().map(({ name }) => name),
    }
    const { id } = await writer.append(
      plainDraft({
        ...by,
        capability: 'audit.retention',
        detail: { ...removed, entries: state.size, head: `sha256:${state.head}` },
      }),
    )
    const next = addRemoval(directory, keys, {
      ...{ chain, ...state, ...removed },
      removed_at: new Date(clock.wall()).toISOString(),
      entry: id,
    })
    // Only now: a segment that goes before its signed record could not be told from a stolen one.
    files.removeBefore(state.size)
    const { baseline } = writer.standing
    if (baseline && baseline.size <= state.size) writer.change({ baseline: null })
    await moved(next)
    await this.removeCopies()
    return next
  }
}
