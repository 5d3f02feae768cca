const charactersMax = 128

/**
 * How many slips of a finger lead from one name to the other: a character added, left out, changed, or two
 * neighbours swapped. Above `max`, some number above it.
 */
const distance = (a: string, b: string, max: number): number => {
  if (Math.abs(a.length - b.length) > max) return max + 1
  let beforePrevious: readonly number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row.push(
        Math.min(
          (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
          (previous[j] ?? 0) + 1,
          (row[j - 1] ?? 0) + 1,
          isSwapped ? (beforePrevious[j - 2] ?? 0) + 1 : max + 1,
        ),
      )
    }
    beforePrevious = previous
    previous = row
  }
  return previous[b.length] ?? max + 1
}

/** The known names that somebody who typed `name` may have meant, nearest first, three at most. */
export const nearest = (name: string, known: readonly string[]): readonly string[] => {
  if (name.length > charactersMax) return []
  const max = Math.max(1, Math.floor(name.length / 3))
  return known
    .map((candidate) => ({ candidate, far: distance(name, candidate, max) }))
    .filter(({ far }) => far <= max)
    .toSorted((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ candidate }) => candidate)
}

/** ` Did you mean x or y?`, or nothing. */
export const didYouMean = (name: string, known: readonly string[]): string => {
  const names = nearest(name, known)
  return names.length === 0 ? '' : ` Did you mean ${names.join(' or ')}?`
}
