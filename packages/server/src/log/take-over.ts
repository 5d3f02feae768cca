import fs from 'node:fs'
import path from 'node:path'
import { createLinker, emptyLog } from '../domain/audit/chain.ts'
import { plainDraft } from '../domain/audit/entry.ts'
import { createTree, rootOf } from '../domain/audit/merkle.ts'
import type { Fault } from '../domain/audit/verify-range.ts'
import { idOf } from '../domain/audit/verify-range.ts'
import type { AuditDraft } from '../ports/audit.ts'
import type { CopiedEntry } from '../ports/audit-rows.ts'
import type { Storage } from '../ports/storage.ts'
import { copiesOf } from './chain-verifier.ts'
import { encodeFrame, type GroupNote, lineOf, noteText } from './frame.ts'
import { hashing } from './hashing.ts'
import type { Keys } from './keys.ts'
import type { LogFiles } from './log-files.ts'
import { readOldSignedHead, retireOldSignedHead, unsealOld } from './old-signed-head.ts'
import { groupMac } from './seal-group.ts'
import { type Alarm, headFile, type SignedHead } from './signed-head.ts'
import { type Stock, takeIn } from './take-stock.ts'
import { cutOff, digestLog, verifyChain } from './verify-chain.ts'

type Parts = {
  readonly files: LogFiles
  readonly storage: Storage
  readonly directory: string
  readonly chain: string
  readonly keys: Keys
}

export type TakenOver = Stock & {
  /** The first entry of the new log names the old one. */
  readonly entry: AuditDraft
}

const emptyNote: GroupNote = { stamps: [], agents: [], sessions: [], clockMs: 0, vault: null }

/**
 * Moves a log that lay in the database into files, once: entries are written as they were hashed, and verified
 * against what was sealed over them. Null where there is nothing to move.
 */
export const takeOver = async (parts: Parts): Promise<TakenOver | null> => {
  const { files, storage, directory, chain, keys } = parts
  if (fs.existsSync(path.join(directory, headFile))) return null
  const old = readOldSignedHead(directory, keys)
  const copies = await storage.copies.read(chain, 0, 1)
  if (!old && copies.length === 0) return null
  // A start that was killed on the way begins anew.
  if (!files.isEmpty) files.cut(0)
  const known = newer(old?.head ?? null, await storedHead(storage, chain, keys))
  await writeAll(parts, old?.groups ?? [], known?.size ?? Number.POSITIVE_INFINITY)
  const taken = known ? await goOn(parts, known) : adopt(files)
  if (!storage.isNetworked) await storage.copies.drop(chain)
  retireOldSignedHead(directory)
  return taken
}

/** The log goes on from what was sealed, even where the database lacked a part of it: no number is used twice. */
const goOn = async (parts: Parts, known: SignedHead): Promise<TakenOver> => {
  const { files, chain } = parts
  const found = await compare(parts, known)
  const { size, head, peaks, count, epoch, vault } = known
  const entries = (_: string, from: number) => files.entries(from)
  const baseline = known.baseline && {
    ...known.baseline,
    digest: (await digestLog({ entries, files }, chain, known.baseline.size)).all,
  }
  return {
    alarm: known.alarm ?? found,
    isSealed: true,
    standing: { state: { size, head, peaks }, count, epoch, alarm: null, baseline, vault },
    entry: moved(size, head),
  }
}

/** An unsealed log is adopted under an alarm: what follows its entries is another tree. */
const adopt = (files: LogFiles): TakenOver => ({
  alarm: missingMark(files),
  isSealed: false,
  standing: {
    state: takeIn(files),
    count: 0,
    epoch: 1,
    alarm: null,
    baseline: null,
    vault: null,
  },
  entry: moved(files.end, null),
})

const storedHead = async (
  storage: Storage,
  chain: string,
  keys: Keys,
): Promise<SignedHead | null> => {
  const content = await storage.meta.get(`audit.sealed.${chain}`)
  const head = content === null ? null : unsealOld(content, keys)
  return head?.chain === chain ? head : null
}

const newer = (a: SignedHead | null, b: SignedHead | null): SignedHead | null =>
  a && b ? (b.size > a.size ? b : a) : (a ?? b)

/** Entries before `end` that the database has, then those of groups that it did not get. */
const writeAll = async (
  { files, storage, chain, keys }: Parts,
  kept: readonly { readonly note: GroupNote; readonly entries: readonly CopiedEntry[] }[],
  end: number,
): Promise<void> => {
  const tree = createTree(hashing)
  const linker = createLinker(hashing)
  let { head } = emptyLog
  const write = (entries: readonly CopiedEntry[], given: GroupNote): void => {
    const first = entries[0]
    const last = entries.at(-1)
    if (!first || !last) return
    const before = { head, root: rootOf(hashing, tree.peaks()) }
    let text = noteText(given)
    const note = text
    for (const { seq, hash, body } of entries) {
      text += lineOf(hash, keys.seal(hash), body)
      linker.link(head, seq, body)
      tree.push(linker.leaf())
      head = hash
    }
    const mac = groupMac(keys, { chain, size: last.seq + 1, head, note })
    files.append(
      encodeFrame(first.seq, entries.length, text, mac),
      { first: first.seq, count: entries.length },
      () => ({ format: 'gatehouse-log-v1', chain, first: first.seq, ...before }),
    )
  }
  let next = 0
  for await (const group of copiesOf(storage.copies, chain, 0)) {
    const known = group.filter(({ seq }) => seq < end)
    for (const run of runsOf(known)) write(run, emptyNote)
    next = (known.at(-1)?.seq ?? next - 1) + 1
  }
  for (const { note, entries } of kept) {
    const missing = entries.filter(({ seq }) => seq >= next && seq < end)
    if (missing[0]?.seq !== next) continue
    write(missing, note)
    next += missing.length
  }
}

/** Entries whose numbers follow each other. */
const runsOf = (entries: readonly CopiedEntry[]): CopiedEntry[][] => {
  const runs: CopiedEntry[][] = []
  for (const entry of entries) {
    const run = runs.at(-1)
    if (run && (run.at(-1)?.seq ?? -2) + 1 === entry.seq) run.push(entry)
    else runs.push([entry])
  }
  return runs
}

const compare = async (
  { files, chain, keys }: Parts,
  { size, head, peaks, baseline }: SignedHead,
): Promise<Fault | null> => {
  const anchors = size > 0 ? [{ size, head, source: 'the signed head of the old log' }] : []
  const entries = (_: string, from: number) => files.entries(from)
  // Entries that were acknowledged before keep their state, and those after them are compared.
  const from = baseline ?? emptyLog
  if (files.end < size) return cutOff(files.end, size, files.entry(files.end - 1) ?? undefined)
  const question = { chain, from, through: size, tree: true, anchors }
  const { fault, state } = await verifyChain({ ...question, entries, files, sealer: keys })
  if (fault) return fault
  const isSame = state.peaks.join() === peaks.join()
  return isSame
    ? null
    : { kind: 'modified', seq: 0, id: null, detail: 'the tree is not the one that was sealed' }
}

const missingMark = (files: LogFiles): Alarm => {
  const last = files.entry(files.end - 1)
  return {
    kind: 'anchor_missing',
    seq: Math.max(0, files.end - 1),
    id: last ? idOf(last) : null,
    detail: 'nothing was sealed over the entries in the database',
  }
}

const moved = (entries: number, head: string | null): AuditDraft =>
  plainDraft({
    capability: 'audit.moved',
    actor: 'system',
    request_id: '',
    detail: { from: 'database', entries, head: head === null ? null : `sha256:${head}` },
  })
