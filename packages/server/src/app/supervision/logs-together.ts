import type {
  GateProcesses,
  Integrity,
  LogFinding,
  RetentionStatus,
  UncheckedLog,
} from '@gatehouse/contract'
import type { GateFacts } from '../../ports/gates.ts'
import type { FoundByNode } from '../call/found-by-node.ts'
import type { PartHealth } from '../call/part.ts'

/** Facts of one of the others. Where it could not be asked, its log is unchecked, and it has the entries that it last had. */
export type GateReport = GateFacts & {
  /** Number of that process, as people know it. */
  readonly process: number
  readonly unchecked: UncheckedLog | null
}

const isFailed = ({ integrity }: Integrity): boolean => integrity === 'failed'

/** @SECURITY Logs that nobody could ask must not pass for verified ones; workers-log.test.ts. */
export const worstOf = (
  own: Integrity,
  others: readonly Integrity[],
  unchecked: readonly UncheckedLog[],
): Integrity => {
  const found = [own, ...others].find(isFailed) ?? own
  if (unchecked.length === 0) return found
  const integrity = isFailed(found) ? 'failed' : 'incomplete'
  return { ...found, integrity, unchecked: [...unchecked] }
}

/** Characters of a finding that a node says every two seconds: entries that somebody forged may be named in it. */
const detailMax = 300

/** The finding of a log, in short; null where there is none. */
export const findingOf = (found: Integrity): LogFinding | null => {
  const { integrity, kind, detail = '', first_bad_log: log, accepted_before } = found
  if (integrity !== 'failed' || !kind) return null
  return {
    ...{ kind, detail: detail.slice(0, detailMax) },
    ...(log === undefined ? {} : { log }),
    ...(accepted_before === undefined ? {} : { accepted_before }),
  }
}

/** The same log, with what another node found. */
export const withFinding = (
  { root: _root, ...own }: Integrity,
  { kind, detail, node, remedy }: FoundByNode,
): Integrity => ({ ...own, integrity: 'failed', kind, detail, found_by: node, remedy })

const oldestOf = (a: string | null, b: string | null): string | null =>
  a === null || (b !== null && b < a) ? b : a

/** Logs of two processes as one. What was removed last from either is told. */
const together = (a: RetentionStatus, b: RetentionStatus): RetentionStatus => {
  const [one, other] = [a.removed, b.removed]
  const last = !one || (other && other.removed_at > one.removed_at) ? other : one
  return {
    ...a,
    max_bytes: a.max_bytes === null || b.max_bytes === null ? null : a.max_bytes + b.max_bytes,
    bytes: a.bytes + b.bytes,
    entries: a.entries + b.entries,
    oldest: oldestOf(a.oldest, b.oldest),
    due_entries: a.due_entries + b.due_entries,
    removable_entries: a.removable_entries + b.removable_entries,
    held_by: a.held_by ?? b.held_by,
    ...(last ? { removed: { ...last, entries: (one?.entries ?? 0) + (other?.entries ?? 0) } } : {}),
  }
}

/** The logs of all as one, and which are not in these numbers. */
export const retentionOfAll = (
  own: RetentionStatus,
  others: readonly RetentionStatus[],
  silent: readonly UncheckedLog[],
): RetentionStatus => {
  const all = others.reduce(together, own)
  if (silent.length === 0) return all
  const left_out = silent.map((one) => ({
    ...one,
    remedy: 'what is due in it is removed when it serves again',
  }))
  return { ...all, left_out }
}

const notWell = (others: readonly GateReport[]): readonly string[] =>
  others.flatMap(({ unchecked, status, reasons }) =>
    unchecked !== null || status === 'healthy' ? [] : reasons,
  )

const degradedBy = <T extends PartHealth>(own: T, reasons: readonly string[]): T =>
  own.status !== 'healthy' || reasons.length === 0
    ? own
    : { ...own, status: 'degraded', reason: reasons.join('; ') }

/** How the gateway is where several processes serve it: one that is not there leaves its agents unserved. */
export const gatewayHealth = (own: PartHealth, others: readonly GateReport[]): PartHealth =>
  degradedBy(
    own,
    others.flatMap(({ unchecked }) => unchecked?.reason ?? []),
  )

/** How many there are, and which do not serve; nothing where this is the only one. */
export const gateProcesses = (
  others: readonly GateReport[],
): { readonly gate_processes?: GateProcesses } => {
  const down = others.flatMap(({ unchecked, process }) => (unchecked ? [process] : []))
  return others.length === 0 ? {} : { gate_processes: { count: others.length + 1, down } }
}

/** How the logs are of all that could be asked. */
export const logsHealth = <T extends PartHealth>(own: T, others: readonly GateReport[]): T =>
  degradedBy(own, notWell(others))

/** The same, where a log that could not be asked is not well. */
export const auditHealth = <T extends PartHealth>(own: T, others: readonly GateReport[]): T => {
  const said = others.flatMap(({ unchecked }) => (unchecked ? [sentenceOf(unchecked)] : []))
  return degradedBy(own, [...notWell(others), ...said])
}

const sentenceOf = ({ log, since, remedy }: UncheckedLog): string =>
  `the log of ${log} could not be checked since ${since}; ${remedy}`
