import type { Json } from '@gatehouse/server/ports/json'

export type FakeItem = { readonly version: number; readonly value: string; readonly by: string }

export type FakeRequest =
  | { readonly kind: 'changes'; readonly since: number; readonly limit: number }
  | { readonly kind: 'get'; readonly collection: string; readonly id: string }
  | {
      readonly kind: 'put'
      readonly collection: string
      readonly id: string
      /** Null removes. */
      readonly value: string | null
      /** The version it must be at, 0 for none; null: whatever stands. */
      readonly expected: number | null
      readonly by: string
    }
  | { readonly kind: 'send'; readonly text: string; readonly by: string }
  | { readonly kind: 'find'; readonly by: string }
  | { readonly kind: 'hello'; readonly password: string }

/** Fault of one request. `drop` and `cut`: the connection breaks before, and after, it took effect. */
export type FakeFault = 'refuse' | 'busy' | 'drop' | 'cut' | 'hang' | 'garbage'

type Change = { readonly seq: number; readonly collection: string; readonly id: string }

const keyOf = (collection: string, id: string): string => JSON.stringify([collection, id])

/**
 * A service in memory: things in collections, and an outbox. It counts what it does for each write, so
 * that a test can say that nothing was done twice.
 */
export class FakeServer {
  readonly items = new Map<string, FakeItem>()
  readonly outbox: { readonly by: string; readonly text: string }[] = []
  /** By write: how often it took effect. */
  readonly effects = new Map<string, number>()
  requests = 0
  password = 'open sesame'
  /** Asked for each request; null: nothing goes wrong. */
  fault: (request: FakeRequest) => FakeFault | null = () => null
  readonly #changes: Change[] = []

  put(collection: string, id: string, value: string | null, by = 'somebody else'): number {
    const key = keyOf(collection, id)
    const version = (this.items.get(key)?.version ?? 0) + 1
    if (value === null) this.items.delete(key)
    else this.items.set(key, { version, value, by })
    this.#changes.push({ seq: this.#changes.length + 1, collection, id })
    return version
  }

  /** Everything there is, to be compared: values only, for who wrote them when makes no difference. */
  values(): Record<string, string> {
    return Object.fromEntries([...this.items].map(([key, { value }]) => [key, value]))
  }

  handle(request: FakeRequest): Json {
    this.requests += 1
    switch (request.kind) {
      case 'hello':
        return { ok: request.password === this.password }
      case 'changes': {
        const found = this.#changes.slice(request.since, request.since + request.limit)
        return {
          changes: found.map((change) => ({
            ...change,
            item: this.items.get(keyOf(change.collection, change.id)) ?? null,
          })),
          total: this.#changes.length,
        }
      }
      case 'get':
        return this.items.get(keyOf(request.collection, request.id)) ?? null
      case 'put': {
        const current = this.items.get(keyOf(request.collection, request.id)) ?? null
        if (request.expected !== null && request.expected !== (current?.version ?? 0))
          return { conflict: current }
        this.#done(request.by)
        const { collection, id, value, by } = request
        return { version: this.put(collection, id, value, by) }
      }
      case 'send':
        this.#done(request.by)
        this.outbox.push({ by: request.by, text: request.text })
        return { sent: true }
      case 'find':
        return { found: this.outbox.some(({ by }) => by === request.by) }
    }
  }

  #done(by: string): void {
    this.effects.set(by, (this.effects.get(by) ?? 0) + 1)
  }
}
