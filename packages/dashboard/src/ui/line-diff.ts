type Line = readonly [' ' | '-' | '+', string]

/** Texts that differ in more than so many lines are shown as one that goes and one that comes. */
const editsMax = 1_000
const contextLines = 3

/** How far the first text was read on each diagonal, by its number: lines of the first less lines of the second. */
type Reached = ReadonlyMap<number, number>

/** Whether a diagonal is reached best by a line of the second text, rather than by dropping one of the first. */
const comesDown = (reached: Reached, edits: number, k: number): boolean =>
  k === -edits || (k !== edits && (reached.get(k - 1) ?? 0) < (reached.get(k + 1) ?? 0))

/** The diagonals before each edit, up to the one that ends both texts; null where there are too many edits. */
function reach(a: readonly string[], b: readonly string[]): readonly Reached[] | null {
  const reached = new Map<number, number>()
  const steps: Reached[] = []
  for (let edits = 0; edits <= Math.min(a.length + b.length, editsMax); edits += 1) {
    steps.push(new Map(reached))
    for (let k = -edits; k <= edits; k += 2) {
      const isDown = comesDown(reached, edits, k)
      let x = isDown ? (reached.get(k + 1) ?? 0) : (reached.get(k - 1) ?? 0) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1
      reached.set(k, x)
      if (x >= a.length && x - k >= b.length) return steps
    }
  }
  return null
}

/** The shortest way from one list of lines to the other (E. Myers, 1986). */
function edit(a: readonly string[], b: readonly string[]): readonly Line[] {
  const steps = reach(a, b)
  if (!steps) return [...a.map((line): Line => ['-', line]), ...b.map((line): Line => ['+', line])]
  const lines: Line[] = []
  let x = a.length
  let y = b.length
  for (let edits = steps.length - 1; edits > 0; edits -= 1) {
    const reached = steps[edits] ?? new Map<number, number>()
    const isDown = comesDown(reached, edits, x - y)
    const k = x - y + (isDown ? 1 : -1)
    const fromX = reached.get(k) ?? 0
    for (; x > fromX && y > fromX - k; x -= 1, y -= 1) lines.push([' ', a[x - 1] ?? ''])
    lines.push(isDown ? ['+', b[fromX - k] ?? ''] : ['-', a[fromX] ?? ''])
    x = fromX
    y = fromX - k
  }
  for (; x > 0; x -= 1) lines.push([' ', a[x - 1] ?? ''])
  return lines.toReversed()
}

function compare(before: readonly string[], after: readonly string[]): readonly Line[] {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head += 1
  let tail = 0
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  const same = (line: string): Line => [' ', line]
  return [
    ...before.slice(0, head).map(same),
    ...edit(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ]
}

/**
 * The lines of two texts as a unified difference without context marks: lines of the first that are gone with
 * `-`, lines of the second that are new with `+`, the others with a space before them.
 */
export const lineDiff = (before: string, after: string): string =>
  compare(before.split('\n'), after.split('\n'))
    .map(([sign, line]) => `${sign}${line}`)
    .join('\n')

const linesOf = (text: string): readonly string[] =>
  text === '' ? [] : text.replace(/\n$/, '').split('\n')

/** The same for files of any length: changed lines with those around them. Empty where the texts are the same but for a last line end. */
export function fileDiff(before: string, after: string): string {
  const lines = compare(linesOf(before), linesOf(after))
  const isNear = (at: number): boolean =>
    lines
      .slice(Math.max(0, at - contextLines), at + contextLines + 1)
      .some(([sign]) => sign !== ' ')
  const out: string[] = []
  let [old, now] = [1, 1]
  let isOpen = false
  lines.forEach(([sign, line], at) => {
    const shown = isNear(at)
    if (shown && !isOpen) out.push(`@@ -${old} +${now} @@`)
    if (shown) out.push(`${sign}${line}`)
    isOpen = shown
    if (sign !== '+') old += 1
    if (sign !== '-') now += 1
  })
  return out.join('\n')
}
