import type { StoredService } from '../../ports/services.ts'
import type { ProxyDeps } from './deps.ts'

/** A service that speaks up without end is read this often, and no more. */
const restMs = 1_000

type Read = { readonly atMs: number; listenedSince: boolean }
type Listener = { readonly generation: number; readonly ended: AbortController }

/**
 * Hears from services that something changed, where they can tell it: each is listened to by the node that
 * read it last. What is heard makes the next sync come sooner; without it all goes on at the usual pace.
 */
export class Listeners {
  readonly #deps: ProxyDeps
  readonly #nudge: () => void
  readonly #open = new Map<string, Listener>()
  readonly #running = new Set<Promise<void>>()
  readonly #news = new Set<string>()
  /** Services that this node reads at the moment, and whether something was heard of them before. */
  readonly #reading = new Map<string, boolean>()
  /** The last sync of this node, by service. */
  readonly #reads = new Map<string, Read>()

  constructor(deps: ProxyDeps, nudge: () => void) {
    this.#deps = deps
    this.#nudge = nudge
  }

  /** Whether a sync is due for what was heard. */
  hasNews({ name, status }: StoredService): boolean {
    const read = this.#reads.get(name)
    const rested = !read || this.#deps.clock.wall() - read.atMs >= restMs
    return status === 'connected' && rested && this.#news.has(name)
  }

  /** Before a sync by this node: what was heard until now is covered by it. */
  begins(name: string): void {
    this.#reading.set(name, this.#news.delete(name))
  }

  /** After a sync by this node, or after none, such as where another one reads. */
  ended(name: string, wasRead: boolean): void {
    const hadNews = this.#reading.get(name) ?? false
    this.#reading.delete(name)
    if (wasRead) this.#reads.set(name, { atMs: this.#deps.clock.wall(), listenedSince: false })
    // Another node may have passed the change before it was told of.
    else if (hadNews) this.#news.add(name)
  }

  /** Begins and ends listening as the services stand now. */
  follow(services: readonly StoredService[]): void {
    const known = new Map(services.map((service) => [service.name, service]))
    for (const [name, listener] of this.#open) {
      const service = known.get(name)
      const isSame = service?.generation === listener.generation
      if (isSame && this.#isOurs(service)) continue
      this.#end(name, listener)
      // A full sync ends it as well, which may be long, and is to be listened through.
      const read = this.#reads.get(name)
      if (!isSame && read) read.listenedSince = false
    }
    for (const service of services)
      if (this.#isOurs(service) && this.#deps.opened.adapterOf(service.kind).listen)
        this.#beginOnce(service)
  }

  async stopped(): Promise<void> {
    for (const [name, listener] of this.#open) this.#end(name, listener)
    await Promise.all(this.#running)
  }

  /** As long as it works, and no other node has read it since. */
  #isOurs({ name, status, last_sync_ms }: StoredService): boolean {
    const read = this.#reads.get(name)
    if (read === undefined) return false
    // Syncs may read everything anew, and the end of one is stored before it is known here.
    if (this.#reading.has(name)) return status === 'connected' || status === 'syncing'
    return status === 'connected' && (last_sync_ms ?? 0) <= read.atMs
  }

  #beginOnce(service: StoredService): void {
    const read = this.#reads.get(service.name)
    // Once for each sync: a service that ends it at once is not asked again and again.
    if (!read || read.listenedSince || this.#open.has(service.name)) return
    read.listenedSince = true
    const listener = { generation: service.generation, ended: new AbortController() }
    this.#open.set(service.name, listener)
    const running = this.#listen(service, listener).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async #listen(service: StoredService, listener: Listener): Promise<void> {
    const { name } = service
    const hold = this.#deps.opened.hold(service)
    const hear = () => {
      if (listener.ended.signal.aborted || this.#news.has(name)) return
      this.#news.add(name)
      this.#nudge()
    }
    try {
      await hold.adapter.listen?.(await hold.opened, hear, listener.ended.signal)
    } catch (cause) {
      if (!listener.ended.signal.aborted)
        this.#deps.log.debug({ err: cause, service: name }, 'a service can be heard no more')
    } finally {
      hold.release()
      if (this.#open.get(name) === listener) this.#open.delete(name)
    }
  }

  #end(name: string, { ended }: Listener): void {
    this.#open.delete(name)
    ended.abort()
  }
}
