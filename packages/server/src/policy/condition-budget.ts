/**
 * Budget of one evaluation of a condition, in steps of about 100 ns. Arguments come from agents,
 * and a gate that one call can keep busy for seconds stands still for everyone.
 */
export const stepsMax = 4_000_000

const listMax = 10_000
const valuesMax = 200_000

export type Weight = {
  readonly longestList: number
  readonly longestText: number
  readonly values: number
}

/** Use of lists by a checked condition. All zero: its cost does not depend on the arguments. */
export type Shape = {
  /** How deep `all`, `exists`, `map` and `filter` stand inside each other. */
  readonly loops: number
  readonly additions: number
  /** The longest list written in the condition itself. */
  readonly literalList: number
  readonly splits: boolean
  /** Whether a loop compares whole values, or looks into a list of the arguments. */
  readonly compares: boolean
}

/** Raised for a condition that would cost too much; it then counts as one that cannot be evaluated. */
export class BudgetExceeded extends Error {}

const weigh = (value: unknown): Weight => {
  let longestList = 0
  let longestText = 0
  let values = 0
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (++values > valuesMax) throw new BudgetExceeded('the arguments hold too many values')
    if (typeof next === 'string') longestText = Math.max(longestText, next.length)
    if (typeof next !== 'object' || next === null) continue
    const inner = Array.isArray(next) ? next : Object.values(next)
    longestList = Math.max(longestList, inner.length)
    if (longestList > listMax) throw new BudgetExceeded(`a list has more than ${listMax} elements`)
    for (const item of inner) open.push(item)
  }
  return { longestList, longestText, values }
}

// A frozen call is weighed once, however many conditions look at it.
const weighed = new WeakMap<object, Weight>()

const weightOf = (args: object): Weight => {
  const known = weighed.get(args)
  if (known) return known
  const weight = weigh(args)
  if (Object.isFrozen(args)) weighed.set(args, weight)
  return weight
}

/** Refuses before the work starts what could cost more than `stepsMax`. */
export const assertAffordable = (shape: Shape, args: object): void => {
  if (shape.loops === 0 && shape.additions === 0) return
  const weight = weightOf(args)
  const list =
    Math.max(weight.longestList, shape.literalList, shape.splits ? weight.longestText : 0) *
    (1 + shape.additions)
  const rounds = list ** Math.max(1, shape.loops)
  const each = 10 + weight.longestText / 100 + (shape.compares ? weight.values / 10 : 0)
  if (rounds * each > stepsMax) throw new BudgetExceeded('the lists are too long to loop over')
}
