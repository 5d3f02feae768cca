/** Listeners in this process, told of something as it happens; they must not throw. */
export class Hearers<T> {
  readonly #all = new Set<(news: T) => void>()

  /** Whether anybody hears it: what nobody hears need not be found out. */
  get any(): boolean {
    return this.#all.size > 0
  }

  add(hear: (news: T) => void): Disposable {
    // One function may be added twice, and is taken away once.
    const own = (news: T): void => hear(news)
    this.#all.add(own)
    return { [Symbol.dispose]: () => void this.#all.delete(own) }
  }

  tell(news: T): void {
    for (const hear of this.#all) hear(news)
  }
}
