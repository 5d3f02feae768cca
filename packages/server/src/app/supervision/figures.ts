import type { Figures } from '@gatehouse/contract'
import type { Frozen } from '@gatehouse/contract/routes'
import { decideRange, type RangeVerdict, relationsOf } from '../../domain/figures.ts'
import type { AuditReader } from '../../ports/audit.ts'
import type { Clock } from '../../ports/clock.ts'
import { leftOut } from '../call/left-out.ts'
import type { Op } from '../call/op.ts'

type Deps = { readonly audit: Pick<AuditReader, 'figures' | 'notListed'>; readonly clock: Clock }

/** Times as ISO 8601, `step` in seconds. */
export type FiguresInput = {
  readonly from?: string
  readonly to?: string
  readonly step?: number
  readonly agent?: string
}

export type FiguresOutcome =
  | { readonly kind: 'figures'; readonly figures: Frozen<Figures> }
  | Extract<RangeVerdict, { readonly kind: 'refused' }>

/** Numbers of calls over time, from the index of the audit log. */
export async function getFigures(
  op: Op,
  deps: Deps,
  { agent, from, to, step }: FiguresInput,
): Promise<FiguresOutcome> {
  const asked = {
    ...(from === undefined ? {} : { fromMs: Date.parse(from) }),
    ...(to === undefined ? {} : { toMs: Date.parse(to) }),
    ...(step === undefined ? {} : { stepSeconds: step }),
  }
  const range = decideRange(asked, deps.clock.wall())
  if (range.kind === 'refused') return range
  const { fromMs, toMs, stepSeconds } = range
  const stepMs = stepSeconds * 1_000
  const { sums, ...lists } = await deps.audit.figures(
    { agent: agent ?? null, fromMs, toMs, stepMs },
    op.signal,
  )
  const iso = (ms: number): string => new Date(ms).toISOString()
  const figures = {
    from: iso(fromMs),
    to: iso(toMs),
    step_seconds: stepSeconds,
    times: lists.calls.map((_, i) => iso(fromMs + i * stepMs)),
    ...lists,
    ...relationsOf(sums),
    ...leftOut(deps.audit),
  }
  return { kind: 'figures', figures }
}
