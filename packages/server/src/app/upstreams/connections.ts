import { GatehouseError } from '@gatehouse/contract'
import type { FeatureList } from '../../domain/upstream/features.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type {
  ChangedList,
  ResourceWatch,
  UpstreamConnection,
  UpstreamHost,
  UpstreamOrder,
  WireTool,
} from '../../ports/upstream.ts'
import { credentialEnded } from '../agents/agent-directory.ts'
import { Burst, Paced } from './paced.ts'
import { orderOf, type UpstreamRecord } from './stored.ts'
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
  readonly listChanged: (change: ChangedList) => void
}

/** An open connection, and what the server at its other end has. */
export type Live = {
  readonly key: string
  readonly connection: UpstreamConnection
  readonly access: string
  tools: readonly WireTool[]
  usedMs: number
  running: number
  /** Resources whose changes somebody hears of over it. */
  watched: number
  /** Whether the tools have to be asked for once more. */
  hasChanged: boolean
  readonly lists: Burst
  /** Set while they are asked for. Never rejects once the connection is in use. */
  listing?: Promise<void>
}

/** A connection that is being made. `ends` aborts it; whoever waits for it then looks again for the way there is now. */
type Opening = { readonly done: Promise<void>; readonly ends: AbortController }

type Way = { readonly order: UpstreamOrder; readonly key: string; readonly access: string }

/** Call that waits for a connection. `ends`: how often its agent had been ended when it began to. */
type Caller = { readonly agent: string; readonly signal: AbortSignal; readonly ends: number }

type Failures = { readonly count: number; readonly untilMs: number; readonly reason: string }

/** Connections of one server at once, such as one for each agent. */
const connectionsMax = 64
const pauseMsMax = 60_000
/** For answers that are on their way when a server has forgotten the connection. */
const retireMs = 10_000
/** Between two notices of the same list, and two looks at one that changes again and again. */
const listPaceMs = 1_000
/** Looks at the tools that follow each other at once; a connection that is being made waits for no more. */
const listsAtOnce = 3

/** Equal for the same server, with the same within its reach, that lets an agent in by the same way. */
const accessOf = ({ access, config: { server, grants } }: UpstreamOrder): string =>
  JSON.stringify([server, grants, access])

const keyOf = (name: string, agent: string | null): string => `${name}/${agent ?? ''}`

/** Connections to servers, made with the first call, kept while they are used, made again after a pause. */
export class Connections {
  readonly #deps: ConnectionDeps
  readonly #live = new Map<string, Live>()
  readonly #opening = new Map<string, Opening>()
  readonly #failures = new Map<string, Failures>()
  /** Keys of earlier connections: what has changed since them is not known. */
  readonly #before = new Set<string>()
  readonly #ending = new Set<Promise<void>>()
  /** How often each agent was ended, where it was. */
  readonly #ends = new Map<string, number>()
  /** Worked out once for each agent: a server that was changed has another record. */
  readonly #ways = new WeakMap<UpstreamRecord, Map<string | null, Way>>()

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
   * Runs work with a connection of this agent, once more over another one where the server has forgotten it. Raises
   * `UpstreamFailed` at once within the pause after a failure, `UpstreamNotFound` and `UpstreamCredentialMissing`, and
   * `AuthenticationFailed` where the agent is revoked before it has one.
   */
  async with<T>(
    name: string,
    agent: string,
    signal: AbortSignal,
    work: (live: Live) => Promise<T>,
  ): Promise<T> {
    const caller = { agent, signal, ends: this.#endsOf(agent) }
    const live = await this.#find(name, caller)
    try {
      return await this.#use(live, work)
    } catch (cause) {
      if (!isNotTaken(cause)) throw cause
    }
    this.#retire(live)
    return await this.#use(await this.#find(name, caller), work)
  }

  async #use<T>(live: Live, work: (live: Live) => Promise<T>): Promise<T> {
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
    await this.#endAll(isMeant)
  }

  /** Ends what a revoked agent has of its own, and refuses its calls that wait for a connection. */
  async endOfAgent(agent: string): Promise<void> {
    this.#ends.set(agent, this.#endsOf(agent) + 1)
    await this.#endAll((key) => key.endsWith(`/${agent}`))
    for (const key of this.#before) if (key.endsWith(`/${agent}`)) this.#before.delete(key)
  }

  /** Ends those that are open, and those that are being made. */
  async #endAll(isMeant: (key: string) => boolean): Promise<void> {
    const live = [...this.#live].filter(([key]) => isMeant(key))
    const opening = [...this.#opening].filter(([key]) => isMeant(key))
    for (const [, { ends }] of opening) ends.abort(new Error('the connection is ended'))
    await Promise.allSettled([
      ...live.map(([, one]) => this.#close(one)),
      ...opening.map(([, { done }]) => done),
    ])
  }

  /** Ends connections that nobody has used for a while. */
  async endIdle(): Promise<void> {
    const idleMs = this.#deps.settings['upstream.idle']
    const before = this.#deps.clock.now() - idleMs
    const idle = [...this.#live.values()].filter(
      ({ running, watched, usedMs }) => running + watched === 0 && usedMs <= before,
    )
    await Promise.all(idle.map((live) => this.#close(live)))
  }

  async stopped(): Promise<void> {
    await Promise.allSettled([...this.#opening.values()].map(({ done }) => done))
    await Promise.all([...this.#live.values()].map((live) => this.#close(live)))
    await Promise.all(this.#ending)
  }

  #ofServer(name: string): [string, Live][] {
    return [...this.#live].filter(([key]) => key.startsWith(`${name}/`))
  }

  #endsOf(agent: string): number {
    return this.#ends.get(agent) ?? 0
  }

  async #find(name: string, { agent, signal, ends }: Caller): Promise<Live> {
    for (;;) {
      signal.throwIfAborted()
      // @SECURITY Nobody would end one that it makes now; connections.test.ts, "its agent is revoked".
      if (this.#endsOf(agent) !== ends) throw credentialEnded()
      const { order, key, access } = this.#wayOf(this.#deps.table.find(name), agent)
      const live = this.#live.get(key)
      if (live?.connection.isForgotten) {
        this.#retire(live)
        continue
      }
      if (live?.access === access) {
        if (!live.listing) return live
        await within(live.listing, signal)
        continue
      }
      // @SECURITY Nobody goes on by a credential that was taken away; upstream/own-credentials.test.ts, "from the next".
      if (live) await this.#close(live)
      const done = this.#opening.get(key)?.done ?? this.#open(key, order)
      // A caller who waits no longer leaves it to the others, and to the next call.
      await within(done, signal)
    }
  }

  #wayOf(record: UpstreamRecord, of: string): Way {
    const agent = record.config.per_agent ? of : null
    const ways = this.#ways.get(record) ?? new Map<string | null, Way>()
    const known = ways.get(agent)
    if (known) return known
    const order = orderOf(record, agent)
    const way = { order, key: keyOf(record.name, order.agent), access: accessOf(order) }
    this.#ways.set(record, ways.set(agent, way))
    return way
  }

  #open(key: string, order: UpstreamOrder): Promise<void> {
    const { clock } = this.#deps
    const before = this.#failures.get(key)
    if (before && clock.now() < before.untilMs) {
      const seconds = Math.ceil((before.untilMs - clock.now()) / 1_000)
      const detail = `${before.reason}. It is tried again in ${seconds} s`
      return Promise.reject(new GatehouseError('UpstreamFailed', { upstream: order.name, detail }))
    }
    const ends = new AbortController()
    const done = this.#connect(key, order, ends.signal)
      .catch((cause: unknown) => {
        // A connection that was ended here has not failed.
        if (ends.signal.aborted) return
        this.#failed(key, cause)
        throw cause
      })
      .finally(() => this.#opening.delete(key))
    done.catch(() => {})
    this.#opening.set(key, { done, ends })
    return done
  }

  async #connect(key: string, order: UpstreamOrder, ends: AbortSignal): Promise<void> {
    const { host, clock } = this.#deps
    const { name } = order
    const signal = AbortSignal.any([this.#deps.signal, ends])
    await this.#makeRoom(name)
    const connection = await host.connect(order, signal)
    try {
      const live: Live = {
        ...{ key, connection, access: accessOf(order), tools: [] },
        usedMs: clock.now(),
        running: 0,
        watched: 0,
        hasChanged: true,
        lists: new Burst({ clock, paceMs: listPaceMs, atOnce: listsAtOnce }),
      }
      // Before it is asked for the first time: a list may change as soon as it was told.
      const heard = this.#hear(order, live)
      live.listing = this.#list(order, live, signal, listsAtOnce)
      await live.listing
      // @SECURITY In the turn that makes it live: what was ended meanwhile is used by nobody; connections.test.ts.
      ends.throwIfAborted()
      if (!this.#isWay(order, live.access)) return await connection.close()
      live.usedMs = clock.now()
      this.#live.set(key, live)
      this.#failures.delete(key)
      // Nobody ends one that is being made: where the tools change at each look, calls wait for a live one.
      if (live.hasChanged) this.#listAgain(order, live)
      // Nobody knows what has changed while there was no connection.
      if (this.#before.has(key)) for (const list of connection.changingLists) heard(list)
      this.#before.add(key)
      void connection.closed.then((reason) => {
        // By the other side: one that was ended here is in the map no more.
        if (this.#live.get(key) !== live) return
        this.#live.delete(key)
        this.#failed(key, new GatehouseError('UpstreamFailed', { upstream: name, detail: reason }))
        void connection.close()
      })
    } catch (cause) {
      await connection.close()
      throw cause
    }
  }

  /** Whether its server lets its agent in by this way still. */
  #isWay({ name, agent }: UpstreamOrder, access: string): boolean {
    try {
      return this.#wayOf(this.#deps.table.find(name), agent ?? '').access === access
    } catch {
      return false
    }
  }

  /** Hears of changes of its lists, and returns what tells that one may have changed. */
  #hear(order: UpstreamOrder, live: Live): (list: FeatureList) => void {
    const { connection } = live
    const { name: upstream, agent } = order
    const { listChanged, clock, signal } = this.#deps
    const paced = (list: FeatureList) =>
      new Paced({ clock, paceMs: listPaceMs, signal }, () => listChanged({ upstream, agent, list }))
    const lists = { prompts: paced('prompts'), resources: paced('resources') }
    connection.onListChanged((list) => {
      if (list === 'tools') this.#listAgain(order, live)
      else lists[list].heard()
    })
    connection.onForgotten(() => this.#retire(live))
    return (list) => lists[list].heard()
  }

  /** Until it is told, no tool of this connection is called, and calls wait: what changed is not known yet. */
  #listAgain(order: UpstreamOrder, live: Live): void {
    live.tools = []
    live.hasChanged = true
    live.listing ??= this.#listChanged(order, live)
  }

  async #listChanged(order: UpstreamOrder, live: Live): Promise<void> {
    try {
      await this.#list(order, live, this.#deps.signal)
    } catch (cause) {
      this.#deps.log.warn(
        { err: cause, upstream: order.name },
        'the tools of a server could not be listed',
      )
      await live.connection.close()
      delete live.listing
    }
  }

  /** Asks for the tools until they have not changed since, or as often as given. */
  async #list(
    order: UpstreamOrder,
    live: Live,
    signal: AbortSignal,
    timesMax = Infinity,
  ): Promise<void> {
    let tools: readonly WireTool[] = []
    for (let times = 0; live.hasChanged && times < timesMax; times += 1) {
      await live.lists.next(signal)
      live.hasChanged = false
      tools = await live.connection.listTools(signal)
      await this.#deps.seen(order, live.connection, tools)
    }
    // In the turn of the last look: a change after it is listed anew.
    if (!live.hasChanged) live.tools = tools
    delete live.listing
  }

  async #makeRoom(name: string): Promise<void> {
    const all = this.#ofServer(name)
    if (all.length < connectionsMax) return
    const [oldest] = all
      .map(([, live]) => live)
      .filter(({ running }) => running === 0)
      .toSorted((a, b) => a.usedMs - b.usedMs)
    if (!oldest)
      throw new GatehouseError('UpstreamFailed', {
        upstream: name,
        detail: `its ${connectionsMax} connections are all in use`,
      })
    await this.#close(oldest)
  }

  #failed(key: string, cause: unknown): void {
    const { clock, signal } = this.#deps
    if (signal.aborted) return
    const count = (this.#failures.get(key)?.count ?? 0) + 1
    const pauseMs = Math.min(pauseMsMax, 500 * 2 ** Math.min(count, 10))
    const reason = reasonOf(cause)
    this.#failures.set(key, { count, untilMs: clock.now() + pauseMs, reason })
  }

  /** Asks nothing more over it, and ends it when what was asked has had a while to be answered. */
  #retire(live: Live): void {
    if (this.#live.get(live.key) !== live) return
    this.#live.delete(live.key)
    const { clock, signal } = this.#deps
    const idle = live.running > 0 ? clock.sleep(retireMs, signal) : Promise.resolve()
    const ending = idle.then(() => this.#close(live)).finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
  }

  #close(live: Live): Promise<void> {
    if (this.#live.get(live.key) === live) this.#live.delete(live.key)
    const ending = live.connection.close().finally(() => this.#ending.delete(ending))
    this.#ending.add(ending)
    return ending
  }
}

const isNotTaken = (cause: unknown): boolean =>
  cause instanceof GatehouseError && cause.facts['not_taken'] === true

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
