import type { Integrity } from '@gatehouse/contract'
import { plainDraft } from '../domain/audit/entry.ts'
import type { AuditDraft } from '../ports/audit.ts'
import { everything, type Inspector } from './inspector.ts'
import type { Writer } from './writer.ts'

type Parts = {
  readonly writer: Writer
  readonly inspector: Inspector
  /** Makes the index anew. */
  readonly rebuild: () => Promise<void>
  /** Takes other logs as they are, too. */
  readonly renewRoot: () => Promise<void>
}

/** The remedy of a finding, for people. */
export const acknowledgeStep =
  'once the cause is known, run: gatehouse audit acknowledge --reason TEXT'

/**
 * Takes the damage as it is: an entry says who did so and what was found, and the signed head keeps a digest of
 * the damaged part. Whatever changes in it afterwards is a new finding.
 */
export const acknowledge = async (
  { writer, inspector, rebuild, renewRoot }: Parts,
  reason: string,
  by: By,
): Promise<Integrity> => {
  const found = await inspector.inspect(everything)
  if (found.integrity === 'verified') return found
  const { state } = writer.standing
  const digest = await inspector.digest(state.size)
  const { kind, first_bad_id, first_bad_seq, detail } = found
  await writer.append({
    ...actOf(by, 'audit.acknowledged'),
    arguments: { reason },
    detail: {
      kind: kind ?? null,
      first_bad_id: first_bad_id ?? null,
      first_bad_seq: first_bad_seq ?? null,
      found: detail ?? null,
      entries: state.size,
      digest,
    },
  })
  writer.change({ alarm: null, baseline: { ...state, digest } })
  await renewRoot()
  await writer.exclusive(rebuild)
  inspector.forget()
  return inspector.inspect(everything)
}

/** Makes the index anew from the log; an entry says who had it done. */
export const reindex = async (
  { writer, inspector, rebuild }: Omit<Parts, 'renewRoot'>,
  by: By,
): Promise<Integrity> => {
  await writer.append(actOf(by, 'audit.reindexed'))
  await writer.exclusive(rebuild)
  inspector.forget()
  return inspector.inspect(everything)
}

type By = { readonly actor: string; readonly request_id: string }

const actOf = (by: By, capability: string): AuditDraft => plainDraft({ ...by, capability })
