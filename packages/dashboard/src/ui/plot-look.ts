/** Tokens that a plot draws with; as classes, whose colour follows the theme. */
export const plotTones = {
  accent: 'text-accent',
  warn: 'text-warn',
  bad: 'text-bad',
  soft: 'text-ink-soft',
  line: 'text-line',
} as const

/** How a plot looks, whatever its numbers: the same object for as long as it is shown. */
export type PlotLook = {
  /** Bars are for counts that add up, steps for counts beside each other, lines for what may be missing. */
  readonly kind: 'bars' | 'steps' | 'lines'
  readonly unit: 'count' | 'duration'
  /** The second is dashed too, for those who see no colours. */
  readonly series: readonly { readonly label: string; readonly tone: keyof typeof plotTones }[]
}

/** The lists of `values` are those of the series of its look, with a value for each time. */
export type PlotData = {
  readonly times: readonly string[]
  /** When the last part ends. */
  readonly to: string
  readonly values: readonly (readonly (number | null)[])[]
}

/** Dashes of the series at that place. */
export const dashOf = (at: number): readonly number[] => (at === 0 ? [] : [5, 4])
