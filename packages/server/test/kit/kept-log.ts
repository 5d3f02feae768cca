import type { Log } from '../../src/ports/log.ts'

/** Keeps what is logged, so that a test can look for what must or must not be there. */
export class KeptLog implements Log {
  readonly lines: string[] = []
  debug(facts: object, message: string): void {
    this.#keep(facts, message)
  }
  info(facts: object, message: string): void {
    this.#keep(facts, message)
  }
  warn(facts: object, message: string): void {
    this.#keep(facts, message)
  }
  error(facts: object, message: string): void {
    this.#keep(facts, message)
  }
  #keep(facts: object, message: string): void {
    this.lines.push(
      `${message} ${JSON.stringify(facts, (_k, v: unknown) => (v instanceof Error ? v.message : v))}`,
    )
  }
}
