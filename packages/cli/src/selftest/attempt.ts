/** One attack, and what is wrong with the answer to it; null where it was refused. */
export type Attempt = { readonly name: string; readonly run: () => Promise<string | null> }

export const attempt = (name: string, run: Attempt['run']): Attempt => ({ name, run })

/**
 * Far longer than anything takes here: how fast a service refuses depends on the machine, that it does is what is tried.
 * Null where nothing came of it.
 */
export const withinMs = async <T>(promise: Promise<T>, ms = 60_000): Promise<T | null> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, ms, null)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

/** Fewer than the sockets without headers that a listener keeps: beyond those it closes the oldest. */
const atOnceMax = 200

/** Runs so many at once, or as many as a listener lets connect at once, and says how often each answer came. */
export const tally = async <T>(
  count: number,
  ask: (i: number) => Promise<T>,
): Promise<ReadonlyMap<T, number>> => {
  const counts = new Map<T, number>()
  for (let from = 0; from < count; from += atOnceMax) {
    const length = Math.min(atOnceMax, count - from)
    const answers = await Promise.all(Array.from({ length }, (_, i) => ask(from + i)))
    for (const answer of answers) counts.set(answer, (counts.get(answer) ?? 0) + 1)
  }
  return counts
}

/** Answers other than those that are wanted, as a fault; null where there are none. */
export const strays = <T>(counts: ReadonlyMap<T, number>, wanted: readonly T[]): string | null => {
  const other = [...counts].filter(([answer]) => !wanted.includes(answer))
  return other.length === 0
    ? null
    : other.map(([answer, count]) => `${count} answered ${String(answer)}`).join(', ')
}
