import fs from 'node:fs'
import { GatehouseError, type HealthStatus, type Integrity } from '@gatehouse/contract'
import { entryOf } from '../domain/audit/entry.ts'
import type { Fault } from '../domain/audit/verify-range.ts'
import type { AuditReader, Commit, Journal, VaultAnchor } from '../ports/audit.ts'
import type { AuditRow } from '../ports/audit-rows.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ids } from '../ports/ids.ts'
import type { Log } from '../ports/log.ts'
import type { Storage } from '../ports/storage.ts'
import { acknowledge, acknowledgeStep } from './acknowledge.ts'
import { openCheckpointCopy } from './checkpoint-copy.ts'
import { openCheckpoints, originOf } from './checkpoints.ts'
import { exportLines } from './export.ts'
import { createDigests } from './hashing.ts'
import { createInspector } from './inspector.ts'
import { closeIntents } from './intents.ts'
import { loadKeys } from './keys.ts'
import { openMark } from './mark.ts'
import { verifyPage } from './pages.ts'
import { type Consistency, proveConsistency, proveInclusion } from './prove.ts'
import { createSetAside } from './set-aside.ts'
import { createSigner } from './signer.ts'
import { anchorsOf, takeStock } from './take-stock.ts'
import { openTrail } from './trail.ts'
import { type ChainVerifier, verifierOf } from './verify-chain.ts'
import { Writer } from './writer.ts'

export type JournalOptions = {
  readonly storage: Storage
  /** Where keys, mark and checkpoints lie: not in the database, so that they can speak against it. */
  readonly directory: string
  /** The name of this node's chain: letters, digits, `.`, `_` and `-`. */
  readonly chain: string
  readonly ids: Ids
  readonly clock: Clock
  readonly log: Log
  readonly checkpoint?: {
    readonly everyEntries?: number
    readonly everyMs?: number
    /** A second file for them, on another disk. */
    readonly copy?: string | null
  }
  /** Reads long parts of the log elsewhere; without it they are verified on this thread, in slices. */
  readonly verifier?: ChainVerifier
  /** How often everything is verified in the background; 0 turns that off. */
  readonly verifyEveryMs?: number
}

export type AuditLog = Journal &
  AuditReader &
  VaultAnchor &
  AsyncDisposable & {
    /** PEM. */
    readonly publicKey: string
    /** Calls that the last run of the service left without an outcome. */
    readonly closedIntents: number

    /** Must record that a person understood what was found; from then on only later findings count. */
    acknowledge(
      reason: string,
      by?: { readonly actor: string; readonly request_id: string },
    ): Promise<Integrity>

    /** Must show that the tree of now begins with the tree of that size. */
    proveConsistency(first: number): Promise<Consistency>

    health(): {
      readonly status: HealthStatus
      readonly reason?: string
      readonly entries: number
    }
  }

const chainName = /^[A-Za-z0-9._-]{1,64}$/

/** Opens the log of this node, compares it with its mark, and closes what a crash left open. */
export const openJournal = async (options: JournalOptions): Promise<AuditLog> => {
  const { storage, directory, chain, ids, clock, log } = options
  if (!chainName.test(chain)) {
    throw new GatehouseError('InvalidConfiguration', {
      origin: 'audit chain',
      detail: `"${chain}" is not a usable name`,
    })
  }
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
  const rows = storage.auditRows
  const keys = loadKeys(directory)
  const copyFile = options.checkpoint?.copy ?? null
  const copy = copyFile === null ? null : openCheckpointCopy(copyFile, log)
  const checkpoints = openCheckpoints(directory, keys, copy)
  const { standing, alarm, isSealed } = await takeStock({
    rows,
    meta: storage.meta,
    directory,
    chain,
    keys,
    checkpoints,
  })
  const mark = openMark(directory, keys)
  const trail = openTrail(directory)
  const digests = createDigests(keys.redaction)
  const setAside = createSetAside(directory, clock)
  const stop = new AbortController()
  const signer = createSigner({
    chain,
    checkpoints,
    standing: () => writer.standing,
    log,
    everyEntries: options.checkpoint?.everyEntries ?? 1_000,
  })
  const listeners = new Set<(commit: Commit) => void>()
  const onCommit = (commit: Commit): void => {
    signer.grown()
    for (const listener of listeners) {
      try {
        listener(commit)
      } catch (cause) {
        log.error({ err: cause }, 'a listener of the audit log failed')
      }
    }
  }
  const writer = new Writer(
    { storage, chain, ids, clock, log, digests, keys, mark, setAside, trail, onCommit },
    standing,
  )
  writer.settle({})
  if (alarm) writer.raise(alarm)
  await writer.takeOut()
  const inspector = createInspector({
    storage,
    chain,
    clock,
    writer,
    mark,
    checkpoints: () => anchorsOf(signer.signed()),
    verifier: options.verifier ?? verifierOf(rows),
    signal: stop.signal,
    directory,
  })
  const closedIntents = await closeIntents(rows, chain, writer)

  const failed = (error: unknown): void => {
    if (!stop.signal.aborted) log.error({ err: error }, 'audit upkeep failed')
  }
  const every = async (ms: number, work: () => Promise<unknown>): Promise<void> => {
    while (!stop.signal.aborted) {
      await clock.sleep(ms, stop.signal)
      if (stop.signal.aborted) return
      await work().catch(failed)
    }
  }
  const acknowledged = (): number => writer.standing.baseline?.size ?? 0
  /** Nothing of the log can be read while rows of somebody else are in the place of those that are kept. */
  const clearWay = async (): Promise<void> => {
    if (storage.promises?.isBlocked) await writer.takeOut()
  }
  /** An entry that was read before anything was asked of it, and that no mark covers even now. */
  const strange = (row: AuditRow): Fault | null => {
    const { seq, id } = row
    if (row.chain === chain ? seq < writer.standing.state.size : storage.engine === 'postgres')
      return null
    return { kind: 'inserted', seq, id, detail: 'this service did not write this entry' }
  }
  const verifyAll = async (): Promise<void> => {
    const found = await inspector.inspect('whole')
    if (found.integrity === 'failed') log.error(found, 'the audit log failed verification')
  }
  const verifyEveryMs = options.verifyEveryMs ?? 600_000
  const upkeep = [
    every(1_000, async () => {
      await clearWay()
      await writer.probe()
      await writer.exclusive(async () => writer.noteStored())
    }),
    every(options.checkpoint?.everyMs ?? 60_000, async () => signer.sign()),
    ...(verifyEveryMs > 0 ? [verifyAll().catch(failed), every(verifyEveryMs, verifyAll)] : []),
  ]

  return {
    publicKey: keys.pem,
    closedIntents,
    append: (draft, extras) => writer.append(draft, extras),
    transaction: (work) => writer.transaction(work),
    onCommit(listener) {
      listeners.add(listener)
      return { [Symbol.dispose]: () => void listeners.delete(listener) }
    },
    vaultState: () => ({ state: writer.standing.vault, isSealed }),
    assertRecordable: (draft) => writer.assertRecordable(draft),

    async query(filter) {
      await storage.promises?.settle().catch(clearWay)
      const page = await rows.query(filter)
      const accepted = acknowledged()
      // Rows from before an acknowledgement are held to its digest instead.
      const strict = page.rows.filter(
        (row) => row.chain !== chain || row.seq >= accepted || row.seq < 0,
      )
      const misfit =
        strict.map(strange).find((found) => found !== null) ??
        (await verifyPage(rows, strict, accepted))
      const whole = await inspector.inspect()
      const integrity = misfit ? inspector.report(misfit) : whole
      return { entries: page.rows.map(entryOf), total: page.total, ...integrity }
    },

    async find(id) {
      await clearWay()
      const row = await rows.find(id)
      if (!row) return null
      const misfit = strange(row) ?? (await verifyPage(rows, [row], acknowledged()))
      if (misfit) throw new GatehouseError('AuditDamaged', { id, detail: misfit.detail })
      return entryOf(row)
    },

    verify: () => inspector.inspect('tree'),

    async *export() {
      const chains = []
      const names = storage.engine === 'postgres' ? await rows.chains() : []
      for (const { chain: name } of names) {
        const last = name === chain ? null : await rows.head(name)
        if (last) chains.push({ chain: name, size: last.seq + 1, head: `sha256:${last.hash}` })
      }
      signer.sign()
      const { state, epoch } = writer.standing
      chains.unshift({ chain, size: state.size, head: `sha256:${state.head}` })
      yield* exportLines({
        rows,
        chain,
        chains,
        origin: originOf(chain, epoch),
        publicKey: keys.raw,
        createdAt: new Date(clock.wall()).toISOString(),
        checkpoints: () =>
          signer
            .signed()
            .filter((checkpoint) => checkpoint.size <= state.size)
            .map((checkpoint) => checkpoint.note),
      })
    },

    counts: (sinceMs) => rows.counts(new Date(sinceMs).toISOString()),

    prove(id) {
      signer.sign()
      return proveInclusion(rows, chain, id, signer.signed().at(-1), keys.pem)
    },

    proveConsistency: (first) => proveConsistency(rows, chain, first, writer.standing.state.size),

    acknowledge: (reason, by) =>
      acknowledge({ writer, inspector }, reason, by ?? { actor: 'system', request_id: '' }),

    health() {
      const entries = writer.standing.state.size
      const down = writer.failure
      if (down) return { status: 'unhealthy', reason: down.message, entries }
      const { kind, detail } = inspector.report(null)
      const reason = kind
        ? `integrity: ${kind}: ${detail ?? ''}; ${acknowledgeStep}`
        : (inspector.failure() ?? copy?.failure())
      return reason ? { status: 'degraded', reason, entries } : { status: 'healthy', entries }
    },

    async [Symbol.asyncDispose]() {
      stop.abort()
      await writer.close()
      await Promise.all(upkeep)
      // What the last mark calls stored cannot be taken away unseen while the service is stopped.
      await storage.promises?.settle().then(() => writer.noteStored(), failed)
      signer.sign()
      mark[Symbol.dispose]()
      trail[Symbol.dispose]()
      checkpoints[Symbol.dispose]()
      await copy?.[Symbol.asyncDispose]()
    },
  }
}
