import { hash } from 'node:crypto'
import type { AuditEntry, SignedRoot } from '@gatehouse/contract'
import type { LogState } from '../domain/audit/chain.ts'
import { type ChainHead, rootOverHeads } from '../domain/audit/heads-root.ts'
import type { Fault } from '../domain/audit/verify-range.ts'
import type { AuditDraft } from '../ports/audit.ts'
import { hashing } from './hashing.ts'
import type { Keys, Verifier } from './keys.ts'
import { readRoots, signRoot } from './root-note.ts'

/** The act by which a process records where all logs end. */
export const headsAct = 'audit.heads'

const prefix = 'sha256:'

/** A signed root over the heads of all logs, as a process recorded it in its own. */
export type RecordedRoot = {
  /** Of that process. */
  readonly chain: string
  readonly seq: number
  readonly id: AuditEntry['id']
  readonly timestamp: string
  /** Store whose logs these were. */
  readonly store: string
  readonly heads: readonly ChainHead[]
  /** In hex. */
  readonly root: string
  readonly note: string
}

/** Fingerprint of a key, in hex. */
export const keyPrint = (raw: Uint8Array): string => hash('sha256', raw, 'hex')

type Fields = Readonly<Record<string, unknown>>

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const hexOf = (value: unknown): string => textOf(value).replace(prefix, '')

const headOf = ([chain, told]: [string, unknown]): ChainHead => {
  const { size, head, key } = (told ?? {}) as Fields
  return { chain, size: Number(size), head: hexOf(head), key: hexOf(key) }
}

/** The root that an entry records; null for one that records none. */
export const readRecordedRoot = (entry: AuditEntry): RecordedRoot | null => {
  if (entry.capability !== headsAct) return null
  const { chain, seq, id, timestamp, arguments: told, detail } = entry
  const { root, note, store } = (detail ?? {}) as Fields
  if (typeof root !== 'string' || typeof note !== 'string') return null
  const heads = Object.entries(told ?? {}).map(headOf)
  return { chain, seq, id, timestamp, store: textOf(store), heads, root: hexOf(root), note }
}

/** Draft of the entry that records heads, of which one is that of the signer's own log. */
export const recordRoot = (
  { chain, store, heads }: Pick<RecordedRoot, 'chain' | 'store' | 'heads'>,
  keys: Keys,
): Pick<AuditDraft, 'capability' | 'arguments' | 'detail'> => {
  const root = rootOverHeads(hashing, heads)
  const size = heads.find((head) => head.chain === chain)?.size ?? 0
  const { note } = signRoot({ chain, logs: heads.length, root, size }, keys)
  const told = heads.map(({ chain: name, size, head, key }) => [
    name,
    { size, head: `${prefix}${head}`, key: key === '' ? null : `${prefix}${key}` },
  ])
  return {
    capability: headsAct,
    arguments: Object.fromEntries(told) as Fields,
    detail: { root: `${prefix}${root}`, note, store },
  }
}

/** A root for an answer. */
export const shownRoot = ({ chain, id, timestamp, heads, root }: RecordedRoot): SignedRoot => ({
  root: `${prefix}${root}`,
  logs: heads.length,
  chain,
  entry: id,
  signed_at: timestamp,
})

/** The logs as they are now. */
export interface PresentLogs {
  /** Must be false for those of which nothing is known here, as in a part of an export. */
  isTold(chain: string): boolean

  /** Must return the hash of an entry in hex; null where it is not there. */
  hashAt(chain: string, seq: number): Promise<string | null>

  /** State before the first entry that is left. */
  start(chain: string): LogState

  /** Null where it is not known. */
  key(chain: string): Verifier | null

  /** Must return the head of a log as a person accepted it after a root was made; null where nobody did. */
  accepted?(chain: string, recorded: RecordedRoot): Promise<ChainHead | null>
}

/** Whether the process that recorded it has signed it. */
export const isSigned = (
  { chain, heads, root, note }: RecordedRoot,
  key: Verifier | null,
): boolean => {
  const signed = readRoots(note, (name) => (name === chain ? key : null))
  return (
    rootOverHeads(hashing, heads) === root &&
    signed.some((one) => one.note === note && one.root === root && one.logs === heads.length)
  )
}

/** Fault, and the log that it is in. */
export type Misfit = Fault & { readonly log: string }

/** The first thing that a recorded root says of the logs and that is not so, or null. */
export const findMisfit = async (
  recorded: RecordedRoot,
  logs: PresentLogs,
): Promise<Misfit | null> => {
  const { chain: signer, seq, id, heads } = recorded
  // @SECURITY A root that anybody could write would vouch for logs that were cut short; signed-roots.test.ts.
  if (!isSigned(recorded, logs.key(signer))) {
    const detail = `the root over all logs that ${signer} recorded is not the one that its key signed`
    return { kind: 'modified', seq, id, detail, log: signer }
  }
  for (const head of heads) {
    const fault = logs.isTold(head.chain) ? await findDifference(head, signer, logs) : null
    const accepted = fault && (await logs.accepted?.(head.chain, recorded))
    const left = accepted ? await findDifference(accepted, signer, logs) : fault
    if (left) return { ...left, log: head.chain }
  }
  return null
}

const findDifference = async (
  { chain, size, head, key }: ChainHead,
  signer: string,
  logs: PresentLogs,
): Promise<Fault | null> => {
  const start = logs.start(chain)
  const hash = size === start.size ? start.head : await logs.hashAt(chain, size - 1)
  // Of what retention took away nothing can be compared.
  if (size >= start.size && hash !== head) {
    const what = hash === null ? 'is gone, up to' : 'is another than'
    return {
      kind: hash === null ? 'truncated' : 'modified',
      seq: size - 1,
      id: null,
      detail: `the log of ${chain} ${what} the head of ${size} entries under the root that ${signer} signed`,
    }
  }
  const print = logs.key(chain)?.raw
  if (key === '' || (print && keyPrint(print) === key)) return null
  const detail = `the log of ${chain} has another key than under the root that ${signer} signed`
  return { kind: 'modified', seq: 0, id: null, detail }
}
