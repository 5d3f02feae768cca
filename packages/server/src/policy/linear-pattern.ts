import { RE2JS } from 're2js'
import { BudgetExceeded, stepsMax } from './condition-budget.ts'

const programMax = 500
const textMax = 65_536

let spent = 0

/** Each evaluation of a condition starts with a full budget. */
export const refillPatternBudget = (): void => {
  spent = 0
}

/** A regular expression that takes time linear in the text, whoever wrote the text. */
export class LinearPattern {
  readonly source: string
  readonly #expression: RE2JS
  readonly #size: number

  /** Throws with a message for a person when the expression is not usable. */
  constructor(source: string) {
    this.source = source
    this.#expression = RE2JS.compile(source)
    this.#size = this.#expression.programSize()
    if (this.#size > programMax) throw new Error('the pattern is too large')
  }

  test(text: string): boolean {
    // @SECURITY Never the engine of the language itself: it can take years (cel.test.ts).
    if (text.length > textMax)
      throw new BudgetExceeded(`matches takes at most ${textMax} characters`)
    spent += text.length * this.#size
    if (spent > stepsMax) throw new BudgetExceeded('the text is too long for this pattern')
    return this.#expression.test(text)
  }
}
