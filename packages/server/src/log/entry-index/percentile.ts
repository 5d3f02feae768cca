/** The nearest-rank percentile of what was measured; 0 where nothing was. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
