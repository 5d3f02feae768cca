/** Followers of a signal, which has one listener for all of them: Node warns of eleven. */
const followers = new WeakMap<AbortSignal, Set<Until>>()

const onAbort = ({ target }: Event): void => {
  const source = target as AbortSignal
  for (const until of [...(followers.get(source) ?? [])]) until.abort(source.reason)
}

/**
 * Aborted with the first of several signals. `AbortSignal.any` keeps something of each call for as long as the longest
 * of them lives (Node 20); here nothing of it is left after `end`.
 */
export class Until {
  readonly #controller = new AbortController()
  readonly #sources: readonly AbortSignal[]

  constructor(sources: readonly (AbortSignal | undefined)[]) {
    this.#sources = sources.filter((source) => source !== undefined)
    for (const source of this.#sources) this.#follow(source)
    const aborted = this.#sources.find((source) => source.aborted)
    if (aborted) this.abort(aborted.reason)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    this.end()
    this.#controller.abort(reason)
  }

  /** The work is over: listens to none of them any more. */
  end(): void {
    for (const source of this.#sources) {
      const others = followers.get(source)
      if (!others?.delete(this) || others.size > 0) continue
      followers.delete(source)
      source.removeEventListener('abort', onAbort)
    }
  }

  #follow(source: AbortSignal): void {
    const others = followers.get(source)
    if (others) return void others.add(this)
    followers.set(source, new Set([this]))
    source.addEventListener('abort', onAbort)
  }
}
