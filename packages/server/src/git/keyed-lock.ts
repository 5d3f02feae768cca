/** One at a time for each key, in the order of asking. */
export class KeyedLock {
  readonly #last = new Map<string, Promise<void>>()

  async hold<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key)
    let open = (): void => {}
    const mine = new Promise<void>((resolve) => {
      open = resolve
    })
    this.#last.set(key, mine)
    try {
      await before
      return await work()
    } finally {
      open()
      if (this.#last.get(key) === mine) this.#last.delete(key)
    }
  }
}
