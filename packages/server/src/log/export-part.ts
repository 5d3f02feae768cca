import { GatehouseError } from '@gatehouse/contract'
import { createLinker, type LogState } from '../domain/audit/chain.ts'
import { createTree } from '../domain/audit/merkle.ts'
import { idOf } from '../domain/audit/verify-range.ts'
import type { ExportPart } from '../ports/audit-export.ts'
import { type ExportHeader, exportFormat } from './export.ts'
import { hashing } from './hashing.ts'
import type { LogFiles } from './log-files.ts'
import { type Checkpoint, verifierKey } from './note.ts'

/** Entries of one part at most, unless a checkpoint is over more. */
const partEntries = 5_000

type Parts = {
  readonly files: Pick<LogFiles, 'entries'>
  readonly chain: string
  readonly origin: string
  readonly publicKey: Buffer
  readonly createdAt: string
  readonly checkpoints: readonly Checkpoint[]
}

const next = (checkpoints: readonly Checkpoint[], from: number): Checkpoint | undefined => {
  const later = checkpoints.filter(({ size }) => size > from)
  return later.findLast(({ size }) => size <= from + partEntries) ?? later[0]
}

/**
 * The entries behind a state, up to a checkpoint that vouches for them; null where none reaches further. An export that
 * begins where another one ended: the root of its checkpoint is over the frontier that its header claims.
 */
export const exportPart = (parts: Parts, from: LogState): ExportPart | null => {
  const { files, chain, origin, publicKey } = parts
  const checkpoint = next(parts.checkpoints, from.size)
  if (!checkpoint) return null
  const tree = createTree(hashing, from)
  const linker = createLinker(hashing)
  let { head } = from
  const entries: string[] = []
  for (const group of files.entries(from.size, checkpoint.size))
    for (const entry of group) {
      const { seq, hash, body } = entry
      if (seq !== tree.size || seq >= checkpoint.size) continue
      head = linker.link(head, seq, body)
      tree.push(linker.leaf())
      entries.push(JSON.stringify({ seq, chain, id: idOf(entry), hash: `sha256:${hash}`, body }))
    }
  // Nothing of a damaged log is passed off as sound: verification names the fault.
  if (tree.size !== checkpoint.size || tree.root() !== checkpoint.root)
    throw new GatehouseError('AuditDamaged', {
      id: `seq ${from.size}`,
      detail: `entries up to ${checkpoint.size} are not those that its checkpoint is over`,
    })
  const to = { size: tree.size, head, peaks: tree.peaks() }
  const header: ExportHeader = {
    format: exportFormat,
    created_at: parts.createdAt,
    public_key: publicKey.toString('base64'),
    verifier_key: verifierKey(origin, publicKey),
    chain,
    origin,
    chains: [{ chain, size: to.size, head: `sha256:${head}` }],
    begin: from,
  }
  return {
    ...{ chain, from, to, entries },
    header: JSON.stringify(header),
    checkpoint: checkpoint.note,
  }
}
