/** A node that was not seen for so long is missing: five beats. */
export const missingAfterMs = 10_000

/** Nodes whose clocks are further apart would let calls through that a limit refuses, and date entries wrongly. */
export const clockOffMaxMs = 1_000

type Seen = { readonly state: 'active' | 'draining' | 'stopped'; readonly seen_ms: number }

/** How a node is at this moment, by what it last said. */
export const standingOf = (
  { state, seen_ms }: Seen,
  nowMs: number,
): 'active' | 'draining' | 'stopped' | 'missing' =>
  state !== 'stopped' && nowMs - seen_ms > missingAfterMs ? 'missing' : state

/**
 * How far a clock is ahead of another, by a question that was asked at `askedMs` and answered at `answeredMs`: as
 * little as the time that it took allows.
 */
export const clockAheadMs = (askedMs: number, otherMs: number, answeredMs: number): number => {
  if (otherMs < askedMs) return askedMs - otherMs
  return otherMs > answeredMs ? answeredMs - otherMs : 0
}
