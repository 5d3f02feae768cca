/** Counts of values below each bound, and their sum: a histogram that costs a few additions. */
export class Tally {
  readonly bounds: readonly number[]
  readonly #counts: number[]
  #sum = 0
  #count = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.#counts = bounds.map(() => 0)
  }

  add(value: number): void {
    this.#sum += value
    this.#count += 1
    const { bounds } = this
    for (let i = 0; i < bounds.length; i += 1)
      if (value <= (bounds[i] as number)) {
        this.#counts[i] = (this.#counts[i] as number) + 1
        return
      }
  }

  /** As Prometheus wants it: each bound with how many were at most that. */
  read(): {
    readonly buckets: readonly { readonly le: string; readonly count: number }[]
    readonly sum: number
    readonly count: number
  } {
    let below = 0
    const buckets = this.bounds.map((bound, i) => {
      below += this.#counts[i] as number
      return { le: String(bound), count: below }
    })
    return {
      buckets: [...buckets, { le: '+Inf', count: this.#count }],
      sum: this.#sum,
      count: this.#count,
    }
  }
}
