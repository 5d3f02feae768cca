import type { Figures } from '@gatehouse/contract'
import { groupOf } from './policy/match.ts'

const dayMs = 86_400_000
const rangeMsMax = 31 * dayMs
const partsMax = 500
/** As many parts as a plot has room for, of a length that people think in. */
const partsWanted = 150
const usualSteps = [1, 5, 10, 30, 60, 300, 900, 3_600, 10_800, 21_600]

export type RangeAsked = {
  readonly fromMs?: number
  readonly toMs?: number
  readonly stepSeconds?: number
}

export type RangeVerdict =
  | {
      readonly kind: 'range'
      readonly fromMs: number
      readonly toMs: number
      readonly stepSeconds: number
    }
  | { readonly kind: 'refused'; readonly field: 'from' | 'step'; readonly detail: string }

const usualStep = (rangeMs: number): number =>
  usualSteps.find((step) => rangeMs <= partsWanted * step * 1_000) ?? dayMs / 1_000

/** The last 24 hours where nothing is said; up to now, or from a day before the end. */
export const decideRange = (asked: RangeAsked, nowMs: number): RangeVerdict => {
  const refused = (field: 'from' | 'step', detail: string) =>
    ({ kind: 'refused', field, detail }) as const
  const { toMs = nowMs } = asked
  const { fromMs = toMs - dayMs } = asked
  const rangeMs = toMs - fromMs
  if (rangeMs <= 0)
    return refused('from', `must be before ${asked.toMs === undefined ? 'now' : '"to"'}`)
  if (rangeMs > rangeMsMax) return refused('from', 'must be at most 31 days before the end')
  const { stepSeconds = usualStep(rangeMs) } = asked
  const parts = Math.ceil(rangeMs / (stepSeconds * 1_000))
  if (parts > partsMax) {
    const least = Math.ceil(rangeMs / (partsMax * 1_000))
    return refused(
      'step',
      `makes ${parts} parts of this range; at most ${partsMax}, so ${least} or more`,
    )
  }
  return { kind: 'range', fromMs, toMs, stepSeconds }
}

type Counted = {
  readonly calls: number
  readonly failed: number
  readonly denied: number
  readonly held: number
}
type Added = { -readonly [K in keyof Counted]: number }

const rowsMax = 20
const edgesMax = 200

/** Sums of those that have a name in common, most calls first, and then by name. */
const addUp = <T extends Counted>(
  sums: readonly T[],
  nameOf: (sum: T) => string,
): (readonly [first: T, added: Counted])[] => {
  const groups = new Map<
    string,
    { readonly name: string; readonly first: T; readonly added: Added }
  >()
  for (const sum of sums) {
    const name = nameOf(sum)
    let group = groups.get(name)
    if (!group) {
      group = { name, first: sum, added: { calls: 0, failed: 0, denied: 0, held: 0 } }
      groups.set(name, group)
    }
    group.added.calls += sum.calls
    group.added.failed += sum.failed
    group.added.denied += sum.denied
    group.added.held += sum.held
  }
  return [...groups.values()]
    .toSorted((a, b) => b.added.calls - a.added.calls || (a.name < b.name ? -1 : 1))
    .map(({ first, added }) => [first, added])
}

type Sum = Counted & {
  readonly agent: string
  readonly capability: string
  readonly service: string | null
  readonly judged: boolean
}

/** Relations between callers and what they call: the largest sums by capability, by agent, and between agents, groups and services. */
export const relationsOf = (
  sums: readonly Sum[],
): Pick<Figures, 'by_capability' | 'by_agent' | 'edges'> => {
  const named = sums.filter(({ capability }) => capability !== '')
  // A name that policy was never asked about is none of a capability: agents could fill the map with such.
  const judged = new Set(named.flatMap((sum) => (sum.judged ? [sum.capability] : [])))
  const existing = named.filter(({ capability }) => judged.has(capability))
  const edgeName = ({ agent, capability, service }: Sum) =>
    JSON.stringify([agent, groupOf(capability), service])
  return {
    by_capability: addUp(named, ({ capability }) => capability)
      .slice(0, rowsMax)
      .map(([{ capability }, { calls, failed, denied }]) => ({
        capability,
        calls,
        failed,
        denied,
      })),
    by_agent: addUp(sums, ({ agent }) => agent)
      .slice(0, rowsMax)
      .map(([{ agent }, added]) => ({ agent, ...added })),
    edges: addUp(existing, edgeName)
      .filter(([, { calls, denied }]) => calls + denied > 0)
      .slice(0, edgesMax)
      .map(([{ agent, capability, service }, { calls, denied, held }]) => ({
        agent,
        group: groupOf(capability),
        service,
        calls,
        denied,
        held,
      })),
  }
}
