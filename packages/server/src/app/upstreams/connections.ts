import { GatehouseError } from '@gatehouse/contract'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type {
  ResourceWatch,
  UpstreamConnection,
  UpstreamHost,
  UpstreamOrder,
  WireTool,
} from '../../ports/upstream.ts'
import { orderOf } from './stored.ts'
import type { ToolTable } from './tool-table.ts'

export type ConnectionDeps = {
  readonly host: Pick<UpstreamHost, 'connect'>
  readonly table: Pick<ToolTable, 'find'>
  readonly clock: Clock
  readonly log: Log
  readonly settings: { readonly 'upstream.idle': number }
  /** Aborts when the service stops. */
  readonly signal: AbortSignal
  /** Told what a server has, whenever one was asked. Must resolve when what follows from it holds. */
  readonly seen: (
    order: UpstreamOrder,
    connection: UpstreamConnection,
    tools: readonly WireTool[],
  ) => Promise<void>
}

/** An open connection, and what the server at its other end has. */
export type Live = {
  readonly connection: UpstreamConnection
  readonly access: string
  tools: readonly WireTool[]
  usedMs: number
  running: number
  /** Resources whose changes somebody hears of over it. */
  watched: number
  /** Set while the tools are asked for: whether they have to be asked for once more. */
  asksAgain?: boolean
}

type Failures = { readonly count: number; readonly untilMs: number; readonly reason: string }

/** Connections of one server at once, such as one for each agent. */
const connectionsMax = 64
const pauseMsMax = 60_000

/** Equal for the same server, with the same within its reach, that lets an agent in by the same way. */
const accessOf = ({ access, config: { server, grants } }: UpstreamOrder): string =>
  JSON.stringify([server, grants, access])

const keyOf = (name: string, agent: string | null): string => `${name}/${agent ?? ''}`

/** Connections to servers, made with the first call, kept while they are used, made again after a pause. */
export class Connections {
  readonly #deps: ConnectionDeps
  readonly #live = new Map<string, Live>()
  readonly #opening = new Map<string, Promise<Live>>()
  readonly #failures = new Map<string, Failures>()
  readonly #ending = new Set<Promise<void>>()

  constructor(deps: ConnectionDeps) {
    this.#deps = deps
  }

  /** Why the last attempt failed, where it did. */
  failureOf(name: string): string | null {
    for (const [key, { reason }] of this.#failures) if (key.startsWith(`${name}/`)) return reason
    return null
  }

  countOf(name: string): number {
    return this.#ofServer(name).length
  }

  hostsRefused(name: string): readonly string[] {
    return [...new Set(this.#ofServer(name).flatMap(([, live]) => live.connection.hostsRefused()))]
  }

  /**
   * Runs work with a connection of this agent. Raises `UpstreamFailed` at once within the pause after a failure,
   * `UpstreamNotFound` and `UpstreamCredentialMissing`.
   */
  async with<T>(
    name: string,
    agent: string,
    signal: AbortSignal,
    work: (live: Live) => Promise<T>,
  ): Promise<T> {
    const live = await this.#find(name, agent, signal)
    live.running += 1
    try {
      return await work(live)
    } finally {
      live.running -= 1
      live.usedMs = this.#deps.clock.now()
    }
  }

  /** Hears of changes of a resource over the connection of this agent, which is kept open for that. Raises as `with` does. */
  async watch(
    name: string,
    agent: string,
    signal: AbortSignal,
    { uri, changed }: { readonly uri: string; readonly changed: () => void },
  ): Promise<ResourceWatch> {
    return await this.with(name, agent, signal, async (live) => {
      const watch = await live.connection.watch(uri, changed, signal)
      live.watched += 1
      void watch.ended.then(() => {
        live.watched -= 1
        live.usedMs = this.#deps.clock.now()
      })
      return watch
    })
  }

  /** Ends the connections of a server, or that of one agent, and forgets their failures. */
  async end(name: string, agent: string | null = null): Promise<void> {
    const isMeant = (key: string) =>
      agent === null ? key.startsWith(`${name}/`) : key === keyOf(name, agent)
    for (const key of this.#failures.keys()) if (isMeant(key)) this.#failures.delete(key)
    const meant = this.#ofServer(name).filter(([key]) => isMeant(key))
    await Promise.all(meant.map(([key, live]) => this.#close(key, live)))
  }

  /** Ends what an agent has of its own. */
  async endOfAgent(agent: string): Promise<void> {
    const own = [...this.#live].filter(([key]) => key.endsWith(`/${agent}`))
    await Promise.all(own.map(([key, live]) => this.#close(key, live)))
  }

  /** Ends connections that nobody has used for a while. */
  async endIdle(): Promise<void> {
    const idleMs = this.#deps.settings['upstream.idle']
    const before = this.#deps.clock.now() - idleMs
    const idle = [...this.#live].filter(
      ([, { running, watched, usedMs }]) => running + watched === 0 && usedMs <= before,
    )
    await Promise.all(idle.map(([key, live]) => this.#close(key, live)))
  }

  async stopped(): Promise<void> {
    await Promise.allSettled(this.#opening.values())
    await Promise.all([...this.#live].map(([key, live]) => this.#close(key, live)))
    await Promise.all(this.#ending)
  }

  #ofServer(name: string): [string, Live][] {
    return [...this.#live].filter(([key]) => key.startsWith(`${name}/`))
  }

  async #find(name: string, agent: string, signal: AbortSignal): Promise<Live> {
    for (;;) {
      const record = this.#deps.table.find(name)
      const order = orderOf(record, record.config.per_agent ? agent : null)
      const key = keyOf(name, order.agent)
      const access = accessOf(order)
      const live = this.#live.get(key)
      if (live?.access === access) return live
      // @SECURITY Nobody goes on by a credential that was taken away; upstream/own-credentials.test.ts, "from the next".
      if (live) await this.#close(key, live)
      const opening = this.#opening.get(key) ?? this.#open(key, order)
      // A caller who waits no longer leaves it to the others, and to the next call.
      await within(opening, signal)
    }
  }

  #open(key: string, order: UpstreamOrder): Promise<Live> {
    const { clock } = this.#deps
    const before = this.#failures.get(key)
    if (before && clock.now() < before.untilMs) {
      const seconds = Math.ceil((before.untilMs - clock.now()) / 1_000)
      const detail = `${before.reason}. It is tried again in ${seconds} s`
      return Promise.reject(new GatehouseError('UpstreamFailed', { upstream: order.name, detail }))
    }
    const opening = this.#connect(key, order)
      .catch((cause: unknown) => {
        this.#failed(key, cause)
        throw cause
      })
      .finally(() => this.#opening.delete(key))
    opening.catch(() => {})
    this.#opening.set(key, opening)
    return opening
  }

  async #connect(key: string, order: UpstreamOrder): Promise<Live> {
    const { host, clock, signal, seen } = this.#deps
    const { name } = order
    await this.#makeRoom(name)
    const connection = await host.connect(order, signal)
    try {
      const live = {
        connection,
        access: accessOf(order),
        tools: await connection.listTools(signal),
        usedMs: clock.now(),
        running: 0,
        watched: 0,
      }
      await seen(order, connection, live.tools)
      connection.onToolsChanged(() => void this.#listAgain(order, live))
      this.#live.set(key, live)
      this.#failures.delete(key)
      void connection.closed.then((reason) => {
        // By the other side: one that was ended here is in the map no more.
        if (this.#live.get(key) !== live) return
        this.#live.delete(key)
        this.#failed(key, new GatehouseError('UpstreamFailed', { upstream: name, detail: reason }))
        void connection.close()
      })
      return live
    } catch (cause) {
      await connection.close()
      throw cause
    }
  }

  /** Until it is told, no tool of this connection is called: what changed is not known yet. */
  async #listAgain(order: UpstreamOrder, live: Live): Promise<void> {
    live.tools = []
    const isAsking = live.asksAgain !== undefined
    live.asksAgain = isAsking
    if (isAsking) return
    try {
      let tools: readonly WireTool[]
      do {
        live.asksAgain = false
        tools = await live.connection.listTools(this.#deps.signal)
        await this.#deps.seen(order, live.connection, tools)
      } while (live.asksAgain)
      live.tools = tools
      delete live.asksAgain
    } catch (cause) {
      this.#deps.log.warn(
        { err: cause, upstream: order.name },
        'the tools of a server could not be listed',
      )
      await live.connection.close()
    }
  }

  async #makeRoom(name: string): Promise<void> {
    const all = this.#ofServer(name)
    if (all.length < connectionsMax) return
    const [oldest] = all
      .filter(([, { running }]) => running === 0)
      .toSorted(([, a], [, b]) => a.usedMs - b.usedMs)
    if (!oldest)
      throw new GatehouseError('UpstreamFailed', {
        upstream: name,
        detail: `its ${connectionsMax} connections are all in use`,
      })
    await this.#close(...oldest)
  }

  #failed(key: string, cause: unknown): void {
    const { clock, signal } = this.#deps
    if (signal.aborted) return
    const count = (this.#failures.get(key)?.count ?? 0) + 1
    const pauseMs = Math.min(pauseMsMax, 500 * 2 ** Math.min(count, 10))
    const reason = reasonOf(cause)
    this.#failures.set(key, { count, untilMs: clock.now() + pauseMs, reason })
  }

  #close(key: string, live: Live): Promise<void> {
    if (this.#live.get(key) === live) this.#live.delete(key)
    const ending = live.connection.close().finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
    return ending
  }
}

const reasonOf = (cause: unknown): string => {
  if (!(cause instanceof GatehouseError)) return 'it failed'
  const { detail } = cause.facts
  return typeof detail === 'string' ? detail : cause.message
}

const within = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const end = () => reject(signal.reason)
    if (signal.aborted) return end()
    signal.addEventListener('abort', end, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
