export const filtersText = {
  filters: (set: number) => (set === 0 ? 'Filters' : `Filters: ${set} set`),
} as const
