import fs from 'node:fs'
import path from 'node:path'
import {
  GatehouseError,
  type HealthStatus,
  type Integrity,
  type RetentionStatus,
  type UnlistedEntries,
} from '@gatehouse/contract'
import { acknowledgeStep } from '../domain/audit/acknowledge-step.ts'
import { entryOf } from '../domain/audit/entry.ts'
import { type Fault, goneText } from '../domain/audit/verify-range.ts'
import type { AuditLog, AuditReader, Commit, VaultAnchor } from '../ports/audit.ts'
import type { ExportSource } from '../ports/audit-export.ts'
import type { AuditRow, OtherChains, ReadableChains } from '../ports/audit-rows.ts'
import type { Clock } from '../ports/clock.ts'
import type { Ids } from '../ports/ids.ts'
import type { Log } from '../ports/log.ts'
import type { Storage } from '../ports/storage.ts'
import { AcceptedLogs } from './accepted-logs.ts'
import { acknowledge, reindex } from './acknowledge.ts'
import { ChainStarts, startOf } from './chain-starts.ts'
import { type ChainVerifier, entriesOf, verifierOf } from './chain-verifier.ts'
import { openCheckpointCopy } from './checkpoint-copy.ts'
import { type Checkpoints, openCheckpoints, originOf } from './checkpoints.ts'
import { indexFolder } from './entry-index/block-files.ts'
import type { Unlisted } from './entry-index/chains.ts'
import { EntryIndex } from './entry-index/entry-index.ts'
import { exportLines } from './export.ts'
import { createExportSource } from './export-source.ts'
import { createDigests } from './hashing.ts'
import { createInspector, everything } from './inspector.ts'
import { closeIntents } from './intents.ts'
import { type Keys, keyFile, loadKeys, publicKeyFile } from './keys.ts'
import { LogFiles, segmentsFolder } from './log-files.ts'
import { verifyPage } from './pages.ts'
import { type Consistency, logOfOther, proveConsistency, proveInclusion } from './prove.ts'
import { rowOfEntry } from './read-groups.ts'
import { remakeCopies } from './record-groups.ts'
import { createRecorder, type Durable } from './recorder.ts'
import { readStart } from './removals.ts'
import { Retention, type RetentionRules } from './retention.ts'
import { createSetAside, type SetAside } from './set-aside.ts'
import { type Alarm, openHeadFile } from './signed-head.ts'
import { noRoots, SignedRoots } from './signed-roots.ts'
import { createSigner } from './signer.ts'
import { takeOver } from './take-over.ts'
import { anchorsOf, takeStock } from './take-stock.ts'
import { checkpointTeller } from './told-checkpoint.ts'
import { findForeignKey, tellKey } from './told-key.ts'
import { takeTurn } from './turn.ts'
import { Writer } from './writer.ts'

export type AuditLogOptions = {
  readonly storage: Storage
  /** Where the log lies, with its keys, signed head and checkpoints. */
  readonly directory: string
  /** Segments of the log, where somebody has opened them already; closed with the log. */
  readonly files?: LogFiles
  /** Logs of other processes of this node; where the store is networked, copies of them are in the store. */
  readonly siblings?: {
    readonly all: ReadableChains
    /** Logs of processes that are no more, which nobody else verifies. */
    readonly idle: OtherChains
    /** Whether this process speaks for all of them. */
    readonly isFirst: boolean
  }
  /** Key that the nodes which share a store have in common, and the store has not; null where there is none yet. */
  readonly sharedKey?: () => string | null
  /** The name of this process' chain: letters, digits, `.`, `_` and `-`. */
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
  /** Whether callers wait until nodes that share the store can see their entries, or for this node's disk alone. */
  readonly durable?: Durable
  /** Reads long parts of the log on another thread; without it they are verified on this one, in slices. */
  readonly verifier?: ChainVerifier
  /** How often everything is verified in the background; 0 turns that off. */
  readonly verifyEveryMs?: number
  /** How long entries are kept; all of them for ever without. */
  readonly retention?: RetentionRules
  /** Why the log does not get to where it is carried, or null. */
  readonly exportFailure?: () => string | null
}

export type LocalAuditLog = AuditLog &
  AuditReader &
  VaultAnchor &
  AsyncDisposable & {
    /** Copies the log as it is now into a folder, with its keys. */
    copyTo(folder: string): void

    /** PEM. */
    readonly publicKey: string
    /** Calls that the last run of the service left without an outcome. */
    readonly closedIntents: number

    /**
     * Must record that a person understood what was found, in whichever log; from then on only what is found in it later
     * counts. `own_only`: leaves logs of others alone.
     */
    acknowledge(
      reason: string,
      by?: { readonly actor: string; readonly request_id: string; readonly own_only?: boolean },
    ): Promise<Integrity>

    /** Must name the entry by which a person accepted the log of another process, as far as this one relied on it. */
    acceptedIn(log: string): string | null

    /** Must make the index anew from the log, and record who had it done. */
    reindex(by: { readonly actor: string; readonly request_id: string }): Promise<Integrity>

    /** The log for those who carry it elsewhere. */
    readonly exportSource: ExportSource

    retention(): RetentionStatus

    /** Must remove what is due and may go, and record who asked for it. */
    applyRetention(by: {
      readonly actor: string
      readonly request_id: string
    }): Promise<RetentionStatus>

    /** Must sign a checkpoint over all entries, where none is, and tell other nodes. */
    sign(): Promise<void>

    /** Must show that the tree of now begins with the tree of that size. */
    proveConsistency(first: number): Promise<Consistency>

    integrity(): Integrity

    health(): {
      readonly status: HealthStatus
      readonly reason?: string
      readonly entries: number
    }
  }

const retentionEveryMs = 600_000
/** Time in which the other nodes follow what a person accepts at one. */
const followEveryMs = 5_000

const nobody: OtherChains = {
  read: async () => [],
  ends: async () => [],
  removals: async () => [],
  keys: async () => [],
  checkpoint: async () => null,
  roots: async () => [],
  takeForeign: async () => false,
}

const shownUnlisted = ({ chain: log, from, expected }: Unlisted): UnlistedEntries => ({
  ...{ log, from },
  reason: `${goneText(from - expected)} before number ${from}, so that it and those after it are neither listed nor counted`,
  remedy: 'gatehouse audit export',
})

const chainName = /^[A-Za-z0-9._-]{1,64}$/

const assertChainName = (chain: string): void => {
  if (chainName.test(chain)) return
  const detail = `"${chain}" is not a usable name`
  throw new GatehouseError('InvalidConfiguration', { origin: 'audit chain', detail })
}

/** The chains beside this one, and what this process has to see to itself: on a network nobody else reads the copies. */
const chainsBeside = ({ storage, siblings }: Pick<AuditLogOptions, 'storage' | 'siblings'>) => {
  if (storage.isNetworked) {
    const { copies } = storage
    return { others: copies, unwatched: copies, makesRoots: true, copies }
  }
  return {
    others: siblings?.all ?? nobody,
    unwatched: siblings?.idle ?? nobody,
    makesRoots: siblings?.isFirst === true,
    copies: null,
  }
}

/** Key that authenticates what people accepted, for all processes that read it. */
const acceptingKey = (
  { storage, sharedKey = () => null }: Pick<AuditLogOptions, 'storage' | 'sharedKey'>,
  keys: Keys,
): (() => string | null) =>
  storage.isNetworked ? sharedKey : () => keys.mac('gatehouse accepted logs').toString('hex')

/** @SECURITY Auditors verify with this file: one that was another is reported; keys.test.ts. */
const publicKeyAlarm = ({ published }: Keys): Alarm | null =>
  published === 'own'
    ? null
    : {
        kind: 'anchor_missing',
        seq: 0,
        id: null,
        detail: `${publicKeyFile} did not hold the public key of ${keyFile}; it was written anew`,
      }

const beginWith = (writer: Writer, found: readonly (Alarm | null)[]): void =>
  writer.begin(found.find((alarm) => alarm !== null) ?? null)

/** Must come once the finding is on the disk. */
const mendFiles = (keys: Keys, checkpoints: Checkpoints, setAside: SetAside): void => {
  if (keys.published === 'other') keys.publish()
  checkpoints.mend(setAside)
}

/** Opens the log of this node, compares it with its signed head, and closes what a crash left open. */
export const openAuditLog = async (options: AuditLogOptions): Promise<LocalAuditLog> => {
  const { storage, directory, chain, ids, clock, log } = options
  assertChainName(chain)
  fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
  const keys = loadKeys(directory)
  const copy = openCheckpointCopy(options.checkpoint?.copy ?? null, log)
  const checkpoints = openCheckpoints(directory, chain, keys, copy)
  const files = options.files ?? new LogFiles(directory)
  let start = readStart(directory, keys, chain)
  // Segments that a crash kept retention from removing.
  files.removeBefore(start.state.size)
  const setAside = createSetAside(directory, clock)
  const taken = await takeOver({ files, storage, directory, chain, keys })
  const head = openHeadFile(directory, keys)
  const stock =
    taken ??
    (await takeStock({
      ...{ files, directory, chain, keys, checkpoints, head, setAside, log },
      start: start.state,
    }))
  const { isSealed, standing, alarm } = stock
  const digests = createDigests(keys.redaction)
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
  const chains = chainsBeside(options)
  const { others } = chains
  const starts = new ChainStarts(others)
  const key = acceptingKey(options, keys)
  const accepted = new AcceptedLogs({ storage, others, key, signal: stop.signal })
  const rows = await EntryIndex.open({
    ...{ directory, chain, files, sealer: keys, others, starts },
    start: () => start.state.size,
  })
  const recording = { storage, files, chain }
  const recorder = createRecorder(recording, options.durable, clock, stop.signal)
  const catchUp = async (end: number): Promise<void> => {
    await rows.catchUp(end)
    await recorder.catchUp(end)
  }
  const catchUpAtStart = async (end: number): Promise<void> => {
    await rows.catchUp(end)
    await recorder.start(end)
  }
  const writer = new Writer(
    {
      ...{
        storage,
        chain,
        ids,
        clock,
        log,
        digests,
        keys,
        files,
        head,
        setAside,
        catchUp,
        onCommit,
      },
      recorder,
      index: (appended) => rows.add(appended),
    },
    standing,
  )
  const rebuildCopies = storage.isNetworked
    ? async () => {
        await remakeCopies({ ...recording, setAside }, writer.standing.state.size)
        await retention.remakeCopies()
        await tellKey(chains.copies, chain, keys)
      }
    : null
  const rebuild = async (): Promise<void> => {
    await rebuildCopies?.()
    await rows.rebuild(writer.standing.state.size)
  }
  beginWith(writer, [alarm, publicKeyAlarm(keys), checkpoints.alarm])
  mendFiles(keys, checkpoints, setAside)
  await writer.open(catchUpAtStart)
  const here = verifierOf(files, others, keys, chain)
  const elsewhere = options.verifier ?? here
  const roots = chains.makesRoots
    ? new SignedRoots({
        ...{ chain, keys, rows, writer, others, starts, storage, files, accepted },
        start: () => start.state,
      })
    : noRoots
  const inspector = createInspector({
    others: chains.unwatched,
    starts: new ChainStarts(chains.unwatched),
    accepted,
    roots,
    chain,
    start: () => start,
    clock,
    writer,
    files,
    head,
    recorder,
    checkTold: [
      () => retention.findForeignStatement(),
      () => findForeignKey(chains.copies, chain, keys),
    ],
    rebuildCopies,
    forgetOthers: () => rows.forgetOthers(),
    checkpoints: () => anchorsOf(signer.signed()),
    here,
    elsewhere,
    signal: stop.signal,
  })
  const entries = entriesOf(files, others, chain)
  const retention: Retention = new Retention({
    ...{ files, directory, chain, keys, clock, writer, inspector, signal: stop.signal },
    rules: options.retention,
    copies: chains.copies,
    verifier: elsewhere,
    checkpoints: () => anchorsOf(signer.signed()),
    told: () => recorder.told(),
    openSeqs: () => rows.openSeqs,
    start: () => start,
    moved: async (next) => {
      start = next
      await rows.removeBefore(next.state.size)
      // The entry about the last root may have gone, too.
      await roots.repeat()
    },
  })
  await retention.removeCopies()
  await tellKey(chains.copies, chain, keys)
  if (taken) await writer.append(taken.entry)
  const closedIntents = await closeIntents({ rows, auditLog: writer })

  const tellCheckpoint = checkpointTeller(chains.copies, chain)
  const sign = async (): Promise<void> => {
    signer.sign()
    await tellCheckpoint(signer.signed().at(-1))
  }
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
  const upkeepFailure = (): string | null | undefined =>
    inspector.failure() ??
    recorder.failure() ??
    retention.failure ??
    roots.failure ??
    copy?.failure() ??
    options.exportFailure?.()
  const acknowledged = (): number => writer.standing.baseline?.size ?? 0
  /** Fault of rows that are about to be shown. Those that a person accepted are compared with the digest of their log instead. */
  const findMisfit = async (found: readonly AuditRow[]): Promise<Fault | null> => {
    const strict = found.filter((row) => row.chain !== chain || row.seq >= acknowledged())
    const fault = await findAmong(strict)
    if (fault === null) return null
    const ends = new Map<string, number>()
    for (const name of new Set(strict.map((row) => row.chain)))
      if (name !== chain) ends.set(name, (await accepted.find(name))?.size ?? 0)
    const left = strict.filter((row) => row.seq >= (ends.get(row.chain) ?? 0))
    return left.length < strict.length ? findAmong(left) : fault
  }
  const findAmong = async (strict: readonly AuditRow[]): Promise<Fault | null> => {
    for (const row of strict)
      if (rowOfEntry({ ...row, seal: '' }) === null)
        return { kind: 'modified', seq: row.seq, id: null, detail: 'the entry cannot be read' }
    return starts.steady(
      (begins) =>
        verifyPage(rows, strict, acknowledged(), (name) =>
          name === chain ? start.state : startOf(begins, name),
        ),
      (fault) => fault !== null,
    )
  }
  /** Finding that names the log whose numbers it has, where there are others. */
  const namedBeside = (found: Integrity, beside: number): Integrity =>
    beside === 0 ? found : { ...found, logs: { own: chain, others: beside } }
  const named = async (found: Integrity): Promise<Integrity> =>
    namedBeside(found, (await others.ends()).filter((end) => end.chain !== chain).length)
  const verifyEveryMs = options.verifyEveryMs ?? 600_000
  const verifyAll = async (): Promise<void> => {
    // Others that share the store would read all entries as often.
    const turn = takeTurn(storage, 'audit.verify', chain, 1.5 * verifyEveryMs)
    const others = await turn.catch(() => false)
    const found = await inspector.inspect({ tree: false, others })
    if (found.integrity === 'failed') log.error(found, 'the audit log failed verification')
  }
  const upkeep = [
    every(1_000, () => writer.probe()),
    every(retentionEveryMs, () => retention.apply()),
    every(options.checkpoint?.everyMs ?? 60_000, async () => {
      await roots.record()
      await sign()
    }),
    every(followEveryMs, () => inspector.follow()),
    roots.begin().catch(failed),
    ...(verifyEveryMs > 0 ? [verifyAll().catch(failed), every(verifyEveryMs, verifyAll)] : []),
  ]

  return {
    rows,
    copyTo(folder) {
      for (const name of fs.readdirSync(directory))
        if (name !== segmentsFolder && name !== indexFolder)
          fs.cpSync(path.join(directory, name), path.join(folder, name), { recursive: true })
      files.copyTo(folder)
    },
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
      await inspector.look()
      const page = await rows.query(filter)
      const misfit = await findMisfit(page.rows)
      const found = await inspector.inspectSeen()
      const integrity = namedBeside(misfit ? inspector.report(misfit) : found, rows.othersSeen)
      return {
        ...{ entries: page.rows.map(entryOf), total: page.total, as_of: page.as_of },
        ...integrity,
      }
    },

    async figures(range, signal) {
      await inspector.look()
      return rows.figures(range, signal)
    },

    async find(id) {
      await inspector.look()
      const row = await rows.find(id)
      if (!row) return null
      const misfit = await findMisfit([row])
      if (misfit) throw new GatehouseError('AuditDamaged', { id, detail: misfit.detail })
      return entryOf(row)
    },

    notListed: () => rows.unlisted.map(shownUnlisted),

    verify: async () => named(await inspector.inspect(everything)),

    async *export() {
      using _held = retention.hold()
      const chains = []
      for (const { chain: name, next } of await rows.ends()) {
        const last = name === chain ? undefined : (await rows.range(name, next - 1, next, 1))[0]
        if (last) chains.push({ chain: name, size: last.seq + 1, head: `sha256:${last.hash}` })
      }
      signer.sign()
      const { state, epoch } = writer.standing
      chains.unshift({ chain, size: state.size, head: `sha256:${state.head}` })
      yield* exportLines({
        entries,
        chain,
        chains,
        origin: originOf(chain, epoch),
        publicKey: keys.raw,
        ...{ start, starts },
        keys: async () => [{ chain, public_key: keys.pem }, ...(await others.keys())],
        createdAt: new Date(clock.wall()).toISOString(),
        checkpoints: () =>
          signer
            .all()
            .filter((checkpoint) => checkpoint.size <= state.size)
            .map((checkpoint) => checkpoint.note),
      })
    },

    counts: (sinceMs) => rows.counts(sinceMs),

    sign,

    async prove(id) {
      await sign()
      await inspector.look()
      const row = await rows.find(id)
      if (!row) return null
      const log =
        row.chain === chain
          ? {
              ...{ chain, entries, start: start.state, publicKey: keys.pem },
              newest: signer.signed().at(-1),
            }
          : await logOfOther({ entries, others, starts }, row.chain)
      const proof = await proveInclusion(log, row)
      const all_logs = await roots.prove(row.chain)
      return all_logs ? { ...proof, all_logs } : proof
    },

    proveConsistency: (first) =>
      proveConsistency({ entries, start: start.state }, chain, first, writer.standing.state.size),

    exportSource: createExportSource({
      ...{ directory, chain, keys, clock, files, writer, rows },
      signed: () => signer.signed(),
      all: () => signer.all(),
      root: () => roots.findOwn(),
      begin: () => start.state,
    }),

    retention: () => retention.status(),

    async applyRetention(by) {
      await retention.apply(by)
      return retention.status()
    },

    reindex: async (by) => named(await reindex({ writer, inspector, rebuild }, by)),

    acknowledge: async (reason, by) =>
      named(
        await acknowledge(
          { writer, inspector, rebuild, roots, accepted, chain, isCopied: chains.copies !== null },
          reason,
          by ?? { actor: 'system', request_id: '' },
        ),
      ),

    acceptedIn: (log) => accepted.used.get(log)?.entry ?? null,

    integrity: () => inspector.report(null),

    health() {
      const entries = writer.standing.state.size
      const down = writer.failure
      if (down) return { status: 'unhealthy', reason: down.message, entries }
      const { kind, detail } = inspector.report(null)
      const reason = kind
        ? `integrity: ${kind}: ${detail ?? ''}; ${acknowledgeStep}`
        : upkeepFailure()
      return reason ? { status: 'degraded', reason, entries } : { status: 'healthy', entries }
    },

    async [Symbol.asyncDispose]() {
      await roots.record().catch(failed)
      stop.abort()
      await writer.close()
      await Promise.all(upkeep)
      await sign().catch(failed)
      await recorder.catchUp(writer.standing.state.size).catch(failed)
      await storage.flush().catch(failed)
      await rows.save()
      head[Symbol.dispose]()
      files[Symbol.dispose]()
      checkpoints[Symbol.dispose]()
      await copy?.[Symbol.asyncDispose]()
    },
  }
}
