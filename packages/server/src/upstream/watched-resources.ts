import type { McpSubscription } from '@modelcontextprotocol/client'
import type { ResourceWatch } from '../ports/upstream.ts'

/** Requests to the server, in the form of its era. */
export type ResourceServer = {
  /** Whether one stream tells of all resources; else each is subscribed to by itself. */
  readonly isModern: boolean
  ask(method: 'resources/subscribe' | 'resources/unsubscribe', uri: string): Promise<void>
  listen(uris: readonly string[]): Promise<McpSubscription>
  failed(why: string): Error
  /** Of what the server does not do, however often it is asked. */
  refused(why: string): Error
}

type Watcher = { readonly changed: () => void; readonly end: () => void }

/** The resource itself, or one that lies below it. */
const isOf = (uri: string, changed: string): boolean =>
  changed === uri || changed.startsWith(uri.endsWith('/') ? uri : `${uri}/`)

/** Resources of a server whose changes somebody wants to hear of: the server is asked for each of them once. */
export class WatchedResources {
  readonly #server: () => ResourceServer
  readonly #watchers = new Map<string, Set<Watcher>>()
  /** Requests to the server, one after the other: the last decides what it tells of. */
  #last: Promise<unknown> = Promise.resolve()
  #stream: McpSubscription | null = null
  #isOver = false

  constructor(server: () => ResourceServer) {
    this.#server = server
  }

  async watch(uri: string, changed: () => void, signal: AbortSignal): Promise<ResourceWatch> {
    let end: () => void = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const watcher: Watcher = { changed, end }
    await this.#inTurn(async () => {
      signal.throwIfAborted()
      if (this.#isOver) throw this.#server().failed('the connection has ended')
      await this.#add(uri, watcher)
    })
    return { ended, [Symbol.asyncDispose]: () => this.#inTurn(() => this.#remove(uri, watcher)) }
  }

  /** Told by the server. */
  changed(changed: string): void {
    for (const [uri, watchers] of this.#watchers)
      if (isOf(uri, changed)) for (const watcher of watchers) watcher.changed()
  }

  /** After a while in which the server may have said something: nobody knows of what. */
  changedAll(): void {
    for (const watchers of this.#watchers.values())
      for (const watcher of watchers) watcher.changed()
  }

  /** Ends all of them with the connection. */
  end(): void {
    this.#isOver = true
    this.#endAll()
  }

  #endAll(): void {
    const all = [...this.#watchers.values()].flatMap((watchers) => [...watchers])
    this.#watchers.clear()
    this.#stream = null
    for (const watcher of all) watcher.end()
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }

  async #add(uri: string, watcher: Watcher): Promise<void> {
    const known = this.#watchers.get(uri)
    if (known) {
      known.add(watcher)
      return
    }
    this.#watchers.set(uri, new Set([watcher]))
    try {
      if (this.#server().isModern) await this.#listen()
      else await this.#server().ask('resources/subscribe', uri)
    } catch (cause) {
      this.#watchers.delete(uri)
      throw cause
    }
  }

  /** Never fails: a server that does not hear it goes on telling, and nobody listens. */
  async #remove(uri: string, watcher: Watcher): Promise<void> {
    watcher.end()
    const known = this.#watchers.get(uri)
    if (!known?.delete(watcher) || known.size > 0) return
    this.#watchers.delete(uri)
    const server = this.#server()
    const told = server.isModern ? this.#listen() : server.ask('resources/unsubscribe', uri)
    await told.catch(() => {})
  }

  /** A stream says at its beginning what it tells of: another begins before this one ends, so that nothing is missed. */
  async #listen(): Promise<void> {
    const before = this.#stream
    const uris = [...this.#watchers.keys()]
    const next = uris.length === 0 ? null : await this.#server().listen(uris)
    const { resourceSubscriptions: told = [] } = next?.honoredFilter ?? {}
    const missing = uris.find((uri) => !told.includes(uri))
    if (next && missing !== undefined) {
      await next.close()
      throw this.#server().refused('does not tell of changes of this resource')
    }
    this.#stream = next
    await before?.close()
    void next?.closed.then(() => {
      if (this.#stream === next) this.#endAll()
    })
  }
}
