/** Where in a delivery something goes wrong. `accepted`: the message is taken, the answer never leaves. */
export type SmtpStep =
  | 'greeting'
  | 'ehlo'
  | 'starttls'
  | 'auth'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'body'
  | 'accepted'

export type SmtpFault = {
  readonly at: SmtpStep
  /** A refusal says this code; `drop` cuts the connection; `hang` never answers; `garbage` answers nonsense. */
  readonly how: number | 'drop' | 'hang' | 'garbage'
  /** How many connections it strikes; every one where left out. */
  readonly times?: number
}

/** Counts down faults: each strikes as often as it says. */
export class SmtpFaults {
  #faults: { at: SmtpStep; how: SmtpFault['how']; left: number }[] = []

  set(faults: readonly SmtpFault[]): void {
    this.#faults = faults.map(({ at, how, times }) => ({
      at,
      how,
      left: times ?? Number.POSITIVE_INFINITY,
    }))
  }

  /** Fault that would happen at this step; null: all goes well. */
  peek(at: SmtpStep): SmtpFault['how'] | null {
    return this.#next(at)?.how ?? null
  }

  strike(at: SmtpStep): SmtpFault['how'] | null {
    const fault = this.#next(at)
    if (!fault) return null
    fault.left -= 1
    return fault.how
  }

  #next(at: SmtpStep) {
    return this.#faults.find((fault) => fault.at === at && fault.left > 0)
  }
}
