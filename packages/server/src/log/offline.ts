import fs from 'node:fs'
import path from 'node:path'
import { GatehouseError, type Integrity } from '@gatehouse/contract'
import { emptyLog, type LogState } from '../domain/audit/chain.ts'
import { entryOf } from '../domain/audit/entry.ts'
import { frontierFits } from '../domain/audit/merkle.ts'
import { type Fault, idOf } from '../domain/audit/verify-range.ts'
import { Acceptances, acceptedText } from './acceptances.ts'
import { startBy } from './chain-starts.ts'
import {
  checkpointAlarm,
  checkpointsFile,
  largestOf,
  originOf,
  readCheckpointFile,
} from './checkpoints.ts'
import type { ExportHeader } from './export.ts'
import { readExport } from './export-rows.ts'
import { readIfThere } from './files.ts'
import {
  assertPublished,
  parsePublicKey,
  publicKeyFile as publicKeyName,
  sealerBeside,
  type Verifier,
} from './keys.ts'
import { LogReader } from './log-files.ts'
import { type Checkpoint, readCheckpoints } from './note.ts'
import { rowOfEntry } from './read-groups.ts'
import {
  findMisfit,
  headsAct,
  type RecordedRoot,
  readRecordedRoot,
  shownRoot,
} from './recorded-root.ts'
import { type LogStart, logBegin, readRemoval, readStart, removedOf } from './removals.ts'
import { type RootNote, readRoots } from './root-note.ts'
import { readSignedHead, type SignedHead } from './signed-head.ts'
import { anchorsOf } from './take-stock.ts'
import { type Anchor, type ChainFiles, type Entries, hashAt, peakAnchors } from './verify-chain.ts'

export type OfflineOptions = {
  /** Where a log lies, of a service that runs or not; nothing in it is locked or changed. */
  readonly directory?: string
  readonly exportFile?: string
  /** PEM or base64. Without it the key beside the log is believed, which proves less. */
  readonly publicKeyFile?: string
  /** One or more checkpoints that were kept somewhere else. */
  readonly checkpointFile?: string
  /** Fail with `unanchored` where no such checkpoint vouches for the log. */
  readonly requireCheckpoint?: boolean
}

type Judging = OfflineOptions & {
  /** Others follow: checkpoints over more than this part are about them. */
  readonly isPart?: boolean
}

/**
 * `kind: 'unanchored'` beside `integrity: 'verified'` says that nothing kept elsewhere was compared: a log
 * put back with its signed head would look the same.
 */
export type OfflineReport = Integrity & {
  readonly entries: number
  /** Anchor that vouches for the log, and up to which size. */
  readonly anchor: { readonly kind: 'checkpoint' | 'head' | 'none'; readonly size: number }
  /** Damage that a person accepted, as entries under a signature say. */
  readonly accepted?: readonly {
    readonly log: string
    readonly by: string
    readonly at: string
    readonly reason: string
    readonly entry: string
  }[]
}

type Material = {
  readonly entries: Entries
  /** Where entries lie in the files of a log. */
  readonly files?: ChainFiles
  readonly chain: string
  readonly start: LogStart
  /** Chains of other nodes, in an export, and where they begin; null where that is not signed. */
  readonly others: ReadonlyMap<string, LogState | null>
  readonly verifier: Verifier
  /** Keys of the chains, as far as they are told; none where roots over all logs can't be compared. */
  readonly keys: ReadonlyMap<string, Verifier>
  readonly head: SignedHead | null
  /** The log's own checkpoints. */
  readonly checkpoints: readonly Checkpoint[]
  readonly size: number | undefined
  /** Up to where entries are sealed by now, where that is known: what comes later was put in by somebody. */
  readonly sealed?: () => number
  readonly broken: Fault | null
  /** Whether it is a part of one log. */
  readonly isPart?: boolean
  /** Hash of the last entry, as an export claims. */
  readonly end?: string
  /** Where the key of the log may lie, which names what somebody else wrote first. */
  readonly directory?: string
}

/** Verifies a log with nothing but files: no service, no lock, no network. */
export const verifyOffline = async (options: OfflineOptions): Promise<OfflineReport> => {
  const { directory, exportFile } = options
  if (exportFile !== undefined)
    return fs.statSync(exportFile, { throwIfNoEntry: false })?.isDirectory()
      ? verifyParts(options, exportFile)
      : judge(fromExport(options, exportFile), options)
  if (directory === undefined) {
    throw new GatehouseError('InvalidConfiguration', {
      origin: 'audit verify',
      detail: 'name the folder of a log or an export file',
    })
  }
  return judge(fromFiles(options, directory), options)
}

const fromFiles = (options: OfflineOptions, directory: string): Material => {
  // Before the entries are read: a service that runs only adds to what the head says.
  const verifier = keyFrom(options.publicKeyFile ?? path.join(directory, publicKeyName))
  if (options.publicKeyFile === undefined) assertPublished(directory, verifier)
  const readHead = () => readSignedHead(directory, verifier, sealerBeside(directory, verifier))
  const head = readHead()
  const notes = readCheckpointFile(directory, verifier, sealerBeside(directory, verifier))
  const files = new LogReader(directory)
  const chain = head?.chain ?? 'main'
  const start = readStart(directory, verifier, chain)
  const origin = originOf(chain, head?.epoch ?? 0)
  const material: Material = {
    entries: (_, from) => files.entries(from),
    files,
    chain,
    start,
    others: new Map(),
    verifier,
    keys: new Map(),
    head,
    checkpoints: notes.checkpoints.filter((checkpoint) => checkpoint.origin === origin),
    size: head?.size,
    broken: head || files.isEmpty ? checkpointAlarm(notes, checkpointsFile) : noHead,
    directory,
  }
  // Asked after the entries were read: a service that runs has sealed what it appended.
  return head ? { ...material, sealed: () => readHead()?.size ?? 0 } : material
}

const noHead: Fault = {
  kind: 'anchor_missing',
  seq: 0,
  id: null,
  detail: 'there is no signed head beside the log',
}

/** Null where the file says something of removed entries that is not signed. */
const startOf = ({ removal, begin }: ExportHeader, verifier: Verifier): LogStart | null => {
  if (removal) return readRemoval(removal, verifier)
  // Nobody signed it by itself: the root of a checkpoint in the part is over it.
  return begin && frontierFits(begin.size, begin.peaks) ? { ...logBegin, state: begin } : logBegin
}

const foreignRemoval: Fault = {
  kind: 'missing',
  seq: 0,
  id: null,
  detail: 'what it says of removed entries is not signed by the key of this log',
}

const keyFrom = (file: string): Verifier => {
  const text = readIfThere(file)?.toString('utf8')
  if (text === undefined) {
    throw new GatehouseError('InvalidConfiguration', { origin: file, detail: 'no such file' })
  }
  return parsePublicKey(text, file)
}

const fromExport = (options: OfflineOptions, file: string): Material => {
  const { header, notes, broken, entries } = readExport(fs.readFileSync(file, 'utf8'), file)
  const { chain } = header
  const verifier = options.publicKeyFile
    ? keyFrom(options.publicKeyFile)
    : parsePublicKey(header.public_key, file)
  const checkpoints = readCheckpoints(notes.join('\n'), verifier).filter(
    (checkpoint) => checkpoint.origin === header.origin,
  )
  const size = header.chains.find((known) => known.chain === chain)?.size ?? 0
  const others = new Map(
    header.chains
      .filter((known) => known.chain !== chain)
      .map(({ chain: name, removal }) => {
        const begin = removal ? (startBy({ chain: name, ...removal })?.state ?? null) : emptyLog
        return [name, begin]
      }),
  )
  const start = startOf(header, verifier)
  const keys = new Map(
    header.chains.flatMap(({ chain: name, public_key }): [string, Verifier][] =>
      name !== chain && public_key ? [[name, parsePublicKey(public_key, file)]] : [],
    ),
  ).set(chain, verifier)
  return {
    ...{ entries, chain, others, verifier, keys, head: null, checkpoints, size },
    isPart: header.begin !== undefined,
    end: header.chains.find((known) => known.chain === chain)?.head ?? '',
    start: start ?? logBegin,
    broken: broken ?? (start ? null : foreignRemoval),
  }
}

/** Checkpoints and roots that were kept somewhere else. */
const readKept = ({ verifier, keys }: Material, { checkpointFile }: OfflineOptions) => {
  const text = checkpointFile ? fs.readFileSync(checkpointFile, 'utf8') : ''
  const kept = readCheckpoints(text, verifier)
  const keptRoots = readRoots(text, (name) => keys.get(name) ?? null)
  if (checkpointFile && kept.length + keptRoots.length === 0) {
    throw new GatehouseError('InvalidConfiguration', {
      origin: checkpointFile,
      detail: 'no checkpoint in it is signed by the key of this log',
    })
  }
  return { kept, keptRoots }
}

const judge = async (material: Material, options: Judging): Promise<OfflineReport> => {
  const { entries, chain, others, verifier, head, checkpoints, size, directory } = material
  const { start, broken } = material
  const { kept, keptRoots } = readKept(material, options)
  // One over removed entries alone says nothing about those that are left.
  const external = kept.filter(
    (checkpoint) =>
      checkpoint.size > start.state.size &&
      !(options.isPart && checkpoint.size > (material.size ?? 0)),
  )
  const anchors: Anchor[] = [
    ...anchorsOf(checkpoints),
    ...anchorsOf(external).map((anchor) => ({ ...anchor, source: `kept ${anchor.source}` })),
    ...(head ? [{ ...head, source: 'the signed head' }, ...peakAnchors(head)] : []),
  ]
  const acceptances = new Acceptances({
    entries,
    // The signed head beside a log says what was accepted of it.
    chains: directory === undefined ? [chain, ...others.keys()] : [],
  })
  const own = await acceptances.verify({
    entries,
    files: material.files ?? null,
    chain,
    from: start.state,
    tree: true,
    anchors,
    ...(size === undefined ? {} : { atLeast: size }),
    baseline: head?.baseline ?? null,
    sealer: directory === undefined ? null : sealerBeside(directory, verifier),
  })
  const known = Math.min(own.state.size, material.sealed?.() ?? own.state.size)
  let fault: Fault | null =
    own.fault ?? head?.alarm ?? broken ?? (await notSealed(material, own.state.size, known))
  const beside = await verifyOthers(material, acceptances)
  fault ??= beside.fault
  const { newest, fault: misfit } = await checkRoots(material, keptRoots, acceptances)
  fault ??= misfit
  fault ??= await acceptances.findUnsigned((place) =>
    isSignedOver(material, acceptances, newest, place),
  )
  const accepted = acceptances.partOf(chain)?.end ?? head?.baseline?.size ?? 0
  const compared = external.filter((one) => one.size > accepted)
  const signed = Math.max(largestOf(checkpoints), largestOf(compared))
  const anchor = head
    ? ({ kind: 'head', size: head.size } as const)
    : signed > 0
      ? ({ kind: 'checkpoint', size: signed } as const)
      : ({ kind: 'none', size: 0 } as const)
  fault ??= await uncovered(material, own.state.size, anchor.size, compared.length, options)
  return {
    integrity: fault ? 'failed' : 'verified',
    ...(fault
      ? { kind: fault.kind, first_bad_seq: fault.seq, detail: fault.detail }
      : soundWith(acceptances, compared.length)),
    ...(fault?.id ? { first_bad_id: fault.id } : {}),
    verified_through: known - 1,
    verified_at: new Date().toISOString(),
    ...removedOf(start),
    ...(newest && !fault ? { root: shownRoot(newest) } : {}),
    entries: Math.max(0, known - start.state.size) + beside.count,
    anchor: compared.length > 0 ? { kind: 'checkpoint', size: anchor.size } : anchor,
  }
}

const verifyOthers = async (
  { entries, others }: Material,
  acceptances: Acceptances,
): Promise<{ readonly fault: Fault | null; readonly count: number }> => {
  let fault: Fault | null = null
  let count = 0
  for (const [chain, from] of others) {
    if (!from) {
      fault ??= { ...foreignRemoval, detail: `${chain}: ${foreignRemoval.detail}` }
      continue
    }
    const asked = { entries, chain, from, tree: false, anchors: [] }
    const found = await acceptances.verify(asked)
    fault ??= found.fault
    count += found.state.size - from.size
  }
  return { fault, count }
}

/** Limits of what was found to be sound. */
const soundWith = (
  { used }: Acceptances,
  external: number,
): Pick<OfflineReport, 'kind' | 'detail' | 'accepted'> => {
  const limits = used.map(acceptedText)
  if (external === 0) limits.push('compared with no checkpoint that was kept elsewhere')
  const accepted = used.map(({ log, by, at, reason, entry }) => ({ log, by, at, reason, entry }))
  return {
    ...(external === 0 ? { kind: 'unanchored' } : {}),
    ...(limits.length > 0 ? { detail: limits.join('; ') } : {}),
    ...(accepted.length > 0 ? { accepted } : {}),
  }
}

/** Whether a sound entry is under a checkpoint of the log that an export is of, or under the newest root. */
const isSignedOver = async (
  material: Material,
  acceptances: Acceptances,
  newest: RecordedRoot | null,
  { chain, seq }: { readonly chain: string; readonly seq: number },
): Promise<boolean> => {
  const part = acceptances.partOf(chain)
  const isBehind = seq >= (part?.end ?? 0)
  if (chain === material.chain)
    return (
      isBehind || material.checkpoints.some(({ size }) => size > seq && size <= (part?.fault ?? 0))
    )
  if (!isBehind) return false
  const head = newest?.heads.find((one) => one.chain === chain)
  if (!head || head.size <= seq) return false
  return (await hashAt(material, chain, head.size - 1)) === head.head
}

/** Entries that record a root over all logs, of each chain; nothing in accepted damage does. */
const recordedRoots = async (
  { entries, chain, start, others }: Material,
  acceptances: Acceptances,
): Promise<RecordedRoot[]> => {
  const roots: RecordedRoot[] = []
  for (const [name, from] of [[chain, start.state] as const, ...others])
    for await (const group of entries(name, acceptances.partOf(name)?.end ?? from?.size ?? 0))
      for (const entry of group) {
        const row = entry.body.includes(`"${headsAct}"`) ? rowOfEntry(entry) : null
        const root = row?.chain === name ? readRecordedRoot(entryOf(row)) : null
        if (root) roots.push(root)
      }
  return roots
}

/** Compares the logs with the newest root over all of them, and that one with roots that were kept elsewhere. */
const checkRoots = async (
  material: Material,
  kept: readonly RootNote[],
  acceptances: Acceptances,
): Promise<{ readonly newest: RecordedRoot | null; readonly fault: Fault | null }> => {
  const { chain: own, start, others, keys, isPart } = material
  if (keys.size === 0) return { newest: null, fault: null }
  const roots = await recordedRoots(material, acceptances)
  const newest = roots.toSorted((a, b) => (a.timestamp < b.timestamp ? 1 : -1))[0] ?? null
  const startAt = (name: string): LogState =>
    (name === own ? start.state : others.get(name)) ?? emptyLog
  const fault =
    newest &&
    (await findMisfit(newest, {
      isTold: (name) => !isPart || name === own,
      hashAt: (name, seq) => hashAt(material, name, seq),
      start: startAt,
      key: (name) => keys.get(name) ?? null,
      accepted: (name, recorded) => acceptances.headSince(name, recorded),
    }))
  if (fault || isPart) return { newest, fault }
  const gone = kept.find(
    (one) => startAt(one.chain).size <= one.size && !roots.some((root) => isSameRoot(one, root)),
  )
  return { newest, fault: gone ? unrecorded(gone) : null }
}

const isSameRoot = (kept: RootNote, { chain, root, heads }: RecordedRoot): boolean =>
  kept.chain === chain &&
  kept.root === root &&
  heads.some((head) => head.chain === chain && head.size === kept.size)

const unrecorded = ({ chain, size, logs }: RootNote): Fault => ({
  kind: 'truncated',
  seq: size,
  id: null,
  detail: `the log of ${chain} does not have the root over ${logs} logs that was kept elsewhere, made after ${size} of its entries`,
})

const idAt = async ({ entries, chain }: Material, seq: number): Promise<string | null> => {
  for await (const [entry] of entries(chain, seq)) return entry?.seq === seq ? idOf(entry) : null
  return null
}

/** Entries that follow soundly and that no sealed state covers. */
const notSealed = async (
  material: Material,
  size: number,
  known: number,
): Promise<Fault | null> => {
  if (size <= known) return null
  const detail = `${size - known} entries from seq ${known} on are not of this service`
  return { kind: 'inserted', seq: known, id: await idAt(material, known), detail }
}

/** In an export nothing but a signed root vouches for its end. */
const uncovered = async (
  material: Material,
  size: number,
  covered: number,
  external: number,
  options: OfflineOptions,
): Promise<Fault | null> => {
  const open = !material.head && size > covered
  if (!open && !(options.requireCheckpoint && external === 0)) return null
  return {
    kind: 'unanchored',
    seq: open ? covered : 0,
    id: open ? await idAt(material, covered) : null,
    detail: open
      ? `no signature of this key covers the entries from ${covered} on`
      : 'a checkpoint that was kept elsewhere is required, and none was given',
  }
}

const partName = /^(.+)-\d{16}\.jsonl$/

type PartEnd = { readonly chain: string; readonly size: number; readonly head: string }

const goesOn = (before: PartEnd, { chain, start }: Material): boolean =>
  before.chain !== chain ||
  (before.size === start.state.size && before.head === `sha256:${start.state.head}`)

const missingPart = (from: number, to: number, id: string | null): Fault => ({
  kind: 'missing',
  seq: from,
  id,
  detail:
    to > from
      ? `the part with the entries ${from} to ${to - 1} is not there`
      : `the part that begins with entry ${to} does not go on from the one before it`,
})

/** A folder of parts, as a target of files has it: each verifies by itself, and goes on from the one before. */
const verifyParts = async (options: OfflineOptions, folder: string): Promise<OfflineReport> => {
  const names = fs.readdirSync(folder).filter((name) => partName.test(name))
  if (names.length === 0)
    throw new GatehouseError('InvalidConfiguration', {
      origin: folder,
      detail: 'there is no export of the audit log in this folder',
    })
  let total: OfflineReport | null = null
  let before = null as PartEnd | null
  for (const [i, name] of names.toSorted().entries()) {
    const material = fromExport(options, path.join(folder, name))
    const { chain, start, size = 0, end = '' } = material
    const { size: first } = start.state
    const isNext = before === null || goesOn(before, material)
    const isPart: boolean = i < names.length - 1
    const found: OfflineReport = await judge(material, { ...options, isPart })
    const entries: number = (total?.entries ?? 0) + found.entries
    if (!isNext && found.integrity === 'verified') {
      const { kind, seq, id, detail } = missingPart(
        before?.size ?? 0,
        first,
        await idAt(material, first),
      )
      return {
        ...{ ...found, integrity: 'failed', kind, first_bad_seq: seq, detail, entries },
        ...(id === null ? {} : { first_bad_id: id }),
      }
    }
    total = { ...found, entries }
    if (found.integrity === 'failed') return total
    before = { chain, size, head: end }
  }
  return total as OfflineReport
}
