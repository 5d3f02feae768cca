import type { Range } from './occurrences.ts'

export type Busy = Range & { readonly tentative: boolean }

/** Times cut to a range, put together where they touch or overlap; what is certain hides what is tentative. */
export const mergeBusy = (all: readonly Busy[], range: Range): Busy[] => {
  const cut = all
    .map((one) => ({
      ...one,
      from_ms: Math.max(one.from_ms, range.from_ms),
      to_ms: Math.min(one.to_ms, range.to_ms),
    }))
    .filter(({ from_ms, to_ms }) => from_ms < to_ms)
  const joined = (list: readonly Range[]): Range[] => {
    const out: { from_ms: number; to_ms: number }[] = []
    for (const { from_ms, to_ms } of list.toSorted((a, b) => a.from_ms - b.from_ms)) {
      const last = out.at(-1)
      if (last && from_ms <= last.to_ms) last.to_ms = Math.max(last.to_ms, to_ms)
      else out.push({ from_ms, to_ms })
    }
    return out
  }
  const sure = joined(cut.filter(({ tentative }) => !tentative))
  const maybe = joined(cut.filter(({ tentative }) => tentative)).flatMap((one) =>
    without(one, sure),
  )
  return [
    ...sure.map((one) => ({ ...one, tentative: false })),
    ...maybe.map((one) => ({ ...one, tentative: true })),
  ].toSorted((a, b) => a.from_ms - b.from_ms)
}

/** Rest of a range that is in none of the others, which are apart and in order. */
const without = (range: Range, others: readonly Range[]): Range[] => {
  const left: Range[] = []
  let at = range.from_ms
  for (const { from_ms, to_ms } of others) {
    if (to_ms <= at || from_ms >= range.to_ms) continue
    if (from_ms > at) left.push({ from_ms: at, to_ms: from_ms })
    at = Math.max(at, to_ms)
  }
  if (at < range.to_ms) left.push({ from_ms: at, to_ms: range.to_ms })
  return left
}

/** The gaps of at least this length. */
export const freeIn = (busy: readonly Range[], range: Range, leastMs: number): Range[] =>
  without(
    range,
    busy.toSorted((a, b) => a.from_ms - b.from_ms),
  ).filter(({ from_ms, to_ms }) => to_ms - from_ms >= leastMs)
