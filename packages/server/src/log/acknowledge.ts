import type { AuditEntry, Integrity } from '@gatehouse/contract'
import { plainDraft } from '../domain/audit/entry.ts'
import type { AuditDraft } from '../ports/audit.ts'
import { acceptanceAct } from './acceptances.ts'
import type { AcceptedLogs } from './accepted-logs.ts'
import { everything, type Inspector } from './inspector.ts'
import type { Roots } from './signed-roots.ts'
import type { Writer } from './writer.ts'

type Parts = {
  readonly writer: Writer
  readonly inspector: Inspector
  readonly roots: Pick<Roots, 'check' | 'newestAt' | 'renew'>
  readonly accepted: Pick<AcceptedLogs, 'assertKey' | 'keep' | 'stateOf'>
  /** Chain of this process. */
  readonly chain: string
  /** Whether others read copies of this log. */
  readonly isCopied: boolean
  /** Makes the index anew. */
  readonly rebuild: () => Promise<void>
}

/**
 * Takes the damage of the log that was found to be damaged as it is, of one log alone: an entry says who did so and what was
 * found. Whatever changes in it afterwards is a new finding.
 */
export const acknowledge = async (
  parts: Parts,
  reason: string,
  by: Acknowledging,
): Promise<Integrity> => {
  const { inspector, roots, chain } = parts
  const found = await inspector.inspect(everything)
  const { integrity, first_bad_log: log } = found
  if (integrity === 'verified' || (log !== undefined && by.own_only)) return found
  if (log !== undefined || parts.isCopied) parts.accepted.assertKey()
  if (log === undefined) await acceptOwn(parts, found, reason, by)
  else await acceptOther(parts, log, found, reason, by)
  const misfit = await roots.check()
  // @SECURITY Of the other logs none may be taken as it is that nobody was shown; accepted-logs.test.ts.
  if (misfit === null || misfit.log === chain) await roots.renew()
  inspector.forget()
  return inspector.inspect(everything)
}

/** The signed head keeps a digest of the damaged part. */
const acceptOwn = async (
  { writer, inspector, accepted, roots, chain, isCopied, rebuild }: Parts,
  found: Integrity,
  reason: string,
  by: By,
): Promise<void> => {
  const { state, alarm: shown } = writer.standing
  const foundMeanwhile = writer.findings()
  const { all: digest, entries: exported } = await inspector.digest(state.size)
  const newest = await roots.newestAt()
  const entry = await writer.append({
    ...actOf(by, acceptanceAct),
    arguments: { reason },
    detail: {
      ...{ ...factsOf(found), entries: state.size, digest, roots_through: newest },
      // An export is verified from there on.
      ...{ exported, head: state.head, peaks: state.peaks },
    },
  })
  // A finding that came meanwhile is still to be shown: nothing finds it a second time.
  const alarm = writer.standing.alarm === shown ? foundMeanwhile() : writer.standing.alarm
  writer.change({ alarm, baseline: { ...state, digest } })
  await writer.exclusive(rebuild)
  // Other nodes read what is left of it.
  if (!isCopied) return
  const told = await accepted.stateOf(chain)
  await accepted.keep({ ...told, ...placeOf(entry, newest) })
}

/** All processes are told: that of the log itself may never come back. */
const acceptOther = async (
  { writer, accepted, roots }: Parts,
  log: string,
  found: Integrity,
  reason: string,
  by: By,
): Promise<void> => {
  const state = await accepted.stateOf(log)
  const newest = await roots.newestAt()
  const entry = await writer.append({
    ...actOf(by, acceptanceAct),
    arguments: { reason, log },
    detail: {
      ...{ ...factsOf(found), entries: state.size, digest: state.digest, key: state.key },
      roots_through: newest,
    },
  })
  await accepted.keep({ ...state, ...placeOf(entry, newest) })
}

const factsOf = ({ kind, first_bad_id, first_bad_seq, detail }: Integrity) => ({
  kind: kind ?? null,
  first_bad_id: first_bad_id ?? null,
  first_bad_seq: first_bad_seq ?? null,
  found: detail ?? null,
})

const placeOf = ({ id, timestamp }: AuditEntry, newest: string) => ({
  ...{ entry: id, accepted_at: timestamp },
  roots_through: newest > timestamp ? newest : timestamp,
})

/** Makes the index anew from the log; an entry says who had it done. */
export const reindex = async (
  { writer, inspector, rebuild }: Pick<Parts, 'writer' | 'inspector' | 'rebuild'>,
  by: By,
): Promise<Integrity> => {
  await writer.append(actOf(by, 'audit.reindexed'))
  await writer.exclusive(rebuild)
  inspector.forget()
  return inspector.inspect(everything)
}

type By = { readonly actor: string; readonly request_id: string }

type Acknowledging = By & {
  /** Leaves logs of other processes alone. */
  readonly own_only?: boolean
}

const actOf = (by: By, capability: string): AuditDraft => plainDraft({ ...by, capability })
