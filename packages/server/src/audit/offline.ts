import fs from 'node:fs'
import path from 'node:path'
import { GatehouseError, type Integrity } from '@gatehouse/contract'
import { emptyLog } from '../domain/audit/chain.ts'
import type { Fault } from '../domain/audit/verify-range.ts'
import type { AuditRows } from '../ports/audit-rows.ts'
import { loadCheckpoints, originOf } from './checkpoints.ts'
import { type ExportRows, readExport } from './export-rows.ts'
import { readIfThere } from './files.ts'
import {
  parsePublicKey,
  publicKeyFile as publicKeyName,
  sealerBeside,
  type Verifier,
} from './keys.ts'
import { type Mark, readMark, unsealMark } from './mark.ts'
import { type Checkpoint, readCheckpoints } from './note.ts'
import { newerOf } from './stored-mark.ts'
import { anchorsOf } from './take-stock.ts'
import { type Anchor, peakAnchors, verifyChain } from './verify-chain.ts'

export type OfflineOptions = {
  /** A data directory, of a service that runs or not; nothing in it is locked or changed. */
  readonly dataDir?: string
  /** Opens the rows of a data directory for reading; needed with `dataDir`. */
  readonly openRows?: (dataDir: string) => Promise<
    Pick<AuditRows, 'range' | 'head' | 'chains'> & {
      /** What the store holds of the sealed state beside the rows of a chain. */
      readonly sealed?: (chain: string) => Promise<string | null>
    } & AsyncDisposable
  >
  /** Where keys, mark and checkpoints lie; the data directory when left out. */
  readonly auditDir?: string
  readonly exportFile?: string
  /** PEM or base64. Without it the key beside the log is believed, which proves less. */
  readonly publicKeyFile?: string
  /** One or more checkpoints that were kept somewhere else. */
  readonly checkpointFile?: string
  /** Fail with `unanchored` where no such checkpoint vouches for the log. */
  readonly requireCheckpoint?: boolean
}

/**
 * `kind: 'unanchored'` beside `integrity: 'verified'` says that nothing kept elsewhere was compared: a log
 * put back whole, with its mark, would look the same.
 */
export type OfflineReport = Integrity & {
  readonly entries: number
  /** What vouches for the log, and up to which size. */
  readonly anchor: { readonly kind: 'checkpoint' | 'mark' | 'none'; readonly size: number }
}

type Material = {
  readonly rows: Pick<AuditRows, 'range' | 'head' | 'chains'>
  readonly chain: string
  readonly verifier: Verifier
  readonly mark: Mark | null
  /** The log's own checkpoints. */
  readonly checkpoints: readonly Checkpoint[]
  readonly size: number | undefined
  /** Up to where entries are sealed by now, where that is known: what comes later was put in by somebody. */
  readonly sealed?: () => Promise<number>
  readonly broken: Fault | null
  /** Where the trail of a data directory lies. */
  readonly directory?: string
}

/** Verifies a log with nothing but files: no service, no lock, no network. */
export const verifyOffline = async (options: OfflineOptions): Promise<OfflineReport> => {
  if (options.exportFile !== undefined)
    return judge(fromExport(options, options.exportFile), options)
  const { dataDir, openRows } = options
  if (dataDir === undefined || !openRows) {
    throw new GatehouseError('InvalidConfiguration', {
      origin: 'audit verify',
      detail: 'name a data directory or an export file',
    })
  }
  const auditDir = options.auditDir ?? dataDir
  // Before the rows are opened: a service that runs only adds to what the mark says.
  const verifier = keyFrom(options.publicKeyFile ?? path.join(auditDir, publicKeyName))
  const mark = readMark(auditDir, verifier, sealerBeside(auditDir, verifier))
  const all = readCheckpoints(loadCheckpoints(auditDir), verifier)
  await using rows = await openRows(dataDir)
  const chain = mark?.chain ?? (await rows.chains())[0]?.chain ?? 'main'
  const origin = originOf(chain, mark?.epoch ?? 0)
  const checkpoints = all.filter((checkpoint) => checkpoint.origin === origin)
  const broken = mark || !(await rows.head(chain)) ? null : noMark
  const directory = auditDir
  const size = mark?.size
  const sealed = async (): Promise<number> => {
    // Asked after the rows were read: a service that runs has sealed what it stored.
    const sealer = sealerBeside(auditDir, verifier)
    const content = sealer && rows.sealed ? await rows.sealed(chain) : null
    const stored = content && sealer ? unsealMark(content, { ...verifier, ...sealer }) : null
    return newerOf(readMark(auditDir, verifier, sealer), stored)?.size ?? 0
  }
  const material = { rows, chain, verifier, mark, checkpoints, size, broken, directory }
  return await judge(mark ? { ...material, sealed } : material, options)
}

const noMark: Fault = {
  kind: 'anchor_missing',
  seq: 0,
  id: null,
  detail: 'there is no signed high-water mark beside the log',
}

const keyFrom = (file: string): Verifier => {
  const text = readIfThere(file)?.toString('utf8')
  if (text === undefined) {
    throw new GatehouseError('InvalidConfiguration', { origin: file, detail: 'no such file' })
  }
  return parsePublicKey(text, file)
}

const fromExport = (options: OfflineOptions, file: string): Material => {
  const found: ExportRows = readExport(fs.readFileSync(file, 'utf8'), file)
  const { header } = found
  const verifier = options.publicKeyFile
    ? keyFrom(options.publicKeyFile)
    : parsePublicKey(header.public_key, file)
  const checkpoints = readCheckpoints(found.notes.join('\n'), verifier).filter(
    (checkpoint) => checkpoint.origin === header.origin,
  )
  const size = header.chains.find(({ chain }) => chain === header.chain)?.size ?? 0
  const { rows, broken } = found
  return { rows, chain: header.chain, verifier, mark: null, checkpoints, size, broken }
}

const judge = async (material: Material, options: OfflineOptions): Promise<OfflineReport> => {
  const { rows, chain, mark, checkpoints, size, broken } = material
  const external = options.checkpointFile
    ? readCheckpoints(fs.readFileSync(options.checkpointFile, 'utf8'), material.verifier)
    : []
  if (options.checkpointFile && external.length === 0) {
    throw new GatehouseError('InvalidConfiguration', {
      origin: options.checkpointFile,
      detail: 'no checkpoint in it is signed by the key of this log',
    })
  }
  const anchors: Anchor[] = [
    ...anchorsOf(checkpoints),
    ...anchorsOf(external).map((anchor) => ({ ...anchor, source: `kept ${anchor.source}` })),
    ...(mark ? [{ ...mark, source: 'the high-water mark' }, ...peakAnchors(mark)] : []),
  ]
  const own = await verifyChain({
    rows,
    chain,
    from: emptyLog,
    tree: true,
    anchors,
    ...(size === undefined ? {} : { atLeast: size }),
    baseline: mark?.baseline ?? null,
    ...(material.directory === undefined ? {} : { directory: material.directory }),
  })
  const known = Math.min(own.state.size, (await material.sealed?.()) ?? own.state.size)
  let fault: Fault | null =
    own.fault ?? mark?.alarm ?? broken ?? (await notSealed(rows, chain, own.state.size, known))
  let entries = known
  for (const other of await rows.chains()) {
    if (other.chain === chain) continue
    const from = emptyLog
    const found = await verifyChain({ rows, chain: other.chain, from, tree: false, anchors: [] })
    fault ??= found.fault
    entries += found.state.size
  }
  const signed = Math.max(0, ...[...checkpoints, ...external].map((checkpoint) => checkpoint.size))
  const anchor = mark
    ? ({ kind: 'mark', size: mark.size } as const)
    : signed > 0
      ? ({ kind: 'checkpoint', size: signed } as const)
      : ({ kind: 'none', size: 0 } as const)
  fault ??= await uncovered(material, own.state.size, anchor.size, external.length, options)
  return {
    integrity: fault ? 'failed' : 'verified',
    ...(fault
      ? { kind: fault.kind, first_bad_seq: fault.seq, detail: fault.detail }
      : external.length === 0
        ? { kind: 'unanchored', detail: 'compared with no checkpoint that was kept elsewhere' }
        : {}),
    ...(fault?.id ? { first_bad_id: fault.id } : {}),
    verified_through: known - 1,
    verified_at: new Date().toISOString(),
    entries,
    anchor: external.length > 0 ? { kind: 'checkpoint', size: anchor.size } : anchor,
  }
}

/** Entries that follow soundly and that no sealed state covers. */
const notSealed = async (
  rows: Material['rows'],
  chain: string,
  size: number,
  known: number,
): Promise<Fault | null> => {
  if (size <= known) return null
  const id = (await rows.range(chain, known, known + 1, 1))[0]?.id ?? null
  const detail = `${size - known} entries from seq ${known} on are not of this service`
  return { kind: 'inserted', seq: known, id, detail }
}

/** In an export nothing but a signed root vouches for its end. */
const uncovered = async (
  { rows, chain, mark }: Material,
  size: number,
  covered: number,
  external: number,
  options: OfflineOptions,
): Promise<Fault | null> => {
  const open = !mark && size > covered
  if (!open && !(options.requireCheckpoint && external === 0)) return null
  return {
    kind: 'unanchored',
    seq: open ? covered : 0,
    id: open ? ((await rows.range(chain, covered, covered + 1, 1))[0]?.id ?? null) : null,
    detail: open
      ? `no signature of this key covers the entries from ${covered} on`
      : 'a checkpoint that was kept elsewhere is required, and none was given',
  }
}
