import type { Buffer } from 'node:buffer'

/** How long what was answered is known: senders give up before that. */
const knownMs = 15_000
const knownMax = 1_000

type Datagram = { readonly port: number; readonly id: string | undefined; readonly bytes: Buffer }
type Known<T> = { readonly verdict: Promise<T>; readonly sinceMs: number }

/** Datagrams with an id that came a moment ago, by the port of their sender and their bytes: up to a thousand, for 15 s. */
export class Answered<T> {
  readonly #nowMs: () => number
  /** The oldest first. */
  readonly #known = new Map<string, Known<T>>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Does it where the datagram is a new one, or has no id; one that was sent again has the verdict of the first. */
  once(
    { port, id, bytes }: Datagram,
    act: () => Promise<T>,
  ): { readonly verdict: Promise<T>; readonly isRepeated: boolean } {
    if (id === undefined) return { verdict: act(), isRepeated: false }
    const sinceMs = this.#nowMs()
    for (const [oldest, known] of this.#known) {
      if (sinceMs - known.sinceMs < knownMs) break
      this.#known.delete(oldest)
    }
    const name = `${port} ${bytes.toString('latin1')}`
    const first = this.#known.get(name)
    if (first) return { verdict: first.verdict, isRepeated: true }
    const verdict = act()
    this.#known.set(name, { verdict, sinceMs })
    const [oldest] = this.#known.keys()
    if (this.#known.size > knownMax && oldest !== undefined) this.#known.delete(oldest)
    return { verdict, isRepeated: false }
  }
}
