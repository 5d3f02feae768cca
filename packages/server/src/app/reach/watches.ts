import { GatehouseError } from '@gatehouse/contract'
import { parseGlob } from '../../domain/glob.ts'
import type { Watches } from '../../ports/capability.ts'
import type { Basics } from '../call/basics.ts'
import type { Call } from '../call/call.ts'
import type { ContextFactory } from '../call/capability-context.ts'

const watchesPerAgentMax = 32

type Change = { readonly kind: string; readonly path: string }

type Watch = {
  readonly agent: string
  /** Null while it is being set up. */
  watching: Disposable | null
  /** Changes that policy did not let the agent learn of. */
  readonly withheld: () => number
}

/** The watches that agents set. They outlive their call and end with the service or `unwatch`. */
export class WatchTable implements Disposable {
  readonly #deps: Pick<Basics, 'ids' | 'events'> & { readonly contexts: ContextFactory }
  readonly #watches = new Map<string, Watch>()

  constructor(deps: Pick<Basics, 'ids' | 'events'> & { readonly contexts: ContextFactory }) {
    this.#deps = deps
  }

  of(call: Call): Watches {
    const agent = call.agent.name
    return {
      add: async ({ path, recursive, pattern, events }) => {
        const mine = [...this.#watches.values()].filter((watch) => watch.agent === agent).length
        if (mine >= watchesPerAgentMax)
          throw new GatehouseError('QuotaExceeded', { limit: watchesPerAgentMax, what: 'watches' })
        const glob = pattern === undefined ? null : parseGlob(pattern)
        const watch_id = this.#deps.ids.next('watch')
        const files = this.#deps.contexts.lastingOf(call)
        let withheld = 0
        const { absolute: top } = files.locate(path)
        const below = (changed: string) =>
          changed.startsWith(`${top}/`) ? changed.slice(top.length + 1) : changed
        const tell = (change: Change) => {
          if (events && !events.includes(change.kind)) return
          if (glob && !glob.matches(below(change.path))) return
          this.#deps.events.publish({ type: 'files.changed', agent, data: { watch_id, ...change } })
        }
        const watch: Watch = { agent, watching: null, withheld: () => withheld }
        await this.#setUp(watch_id, watch, () =>
          files.watch(path, { recursive }, tell, () => withheld++),
        )
        return watch_id
      },
      remove: async (watch_id) => {
        const watch = this.#watches.get(watch_id)
        if (watch?.agent !== agent) throw new GatehouseError('WatchNotFound', { watch_id })
        this.#end(watch_id, watch)
        return { withheld: watch.withheld() }
      },
    }
  }

  endAll(agent: string): void {
    for (const [id, watch] of this.#watches) if (watch.agent === agent) this.#end(id, watch)
  }

  /** Counts it from before it is set up: calls that come at once may not pass the limit, nor one outlive its agent. */
  async #setUp(id: string, watch: Watch, begin: () => Promise<Disposable>): Promise<void> {
    this.#watches.set(id, watch)
    try {
      watch.watching = await begin()
    } catch (cause) {
      this.#watches.delete(id)
      throw cause
    }
    if (this.#watches.has(id)) return
    watch.watching[Symbol.dispose]()
    throw new GatehouseError('Cancelled')
  }

  #end(id: string, { watching }: Watch): void {
    watching?.[Symbol.dispose]()
    this.#watches.delete(id)
  }

  [Symbol.dispose](): void {
    for (const [id, watch] of this.#watches) this.#end(id, watch)
  }
}
