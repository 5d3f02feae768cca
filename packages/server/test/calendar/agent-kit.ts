import type { BufferedWrite } from '@gatehouse/contract'
import { createCalendarAdapter } from '@gatehouse/server/proxy/adapters/calendar/calendar-adapter'
import { type DavTimeouts, davTimeouts } from '@gatehouse/server/proxy/adapters/calendar/dav-client'
import { failureIn, type Kit } from '@gatehouse/testkit'
import { HttpGate } from '@gatehouse/testkit/caldav-server/http-gate'
import type { CalendarFolder, Radicale } from '@gatehouse/testkit/caldav-server/radicale'
import { withQuick } from '../proxy/adapter-rig.ts'
import { freely, ServiceKit } from '../proxy/service-kit.ts'
import { plainSettings, quickTimeouts } from './kit.ts'

let opened = 0

export type ShownEvent = {
  readonly event_id: string
  readonly occurrence: string | null
  readonly title: string
  readonly start: string
  readonly end: string
  readonly version: string
}

/** A whole service with a calendar of its own at a real CalDAV server, behind a gate. */
export class CalendarKit extends ServiceKit {
  readonly group = 'calendar'
  readonly server: Radicale
  readonly gate: HttpGate
  readonly calendar: CalendarFolder
  /** Of the calendar at the server. */
  readonly id: string

  readonly #timeouts: DavTimeouts

  private constructor(
    kit: Kit,
    {
      server,
      gate,
      id,
      timeouts,
    }: Pick<CalendarKit, 'server' | 'gate' | 'id'> & { timeouts: DavTimeouts },
  ) {
    super(kit)
    this.server = server
    this.gate = gate
    this.id = id
    this.calendar = server.calendar(id)
    this.#timeouts = timeouts
  }

  /** Gives up soon on a server that is silent. */
  quickly<R>(work: () => Promise<R>): Promise<R> {
    return withQuick(this.#timeouts, quickTimeouts, work)
  }

  /** `events` are there before the first sync, for which it waits. */
  static async open(
    server: Radicale,
    events: Readonly<Record<string, string>> = {},
    policy = freely('calendar'),
  ): Promise<CalendarKit> {
    opened += 1
    const id = `agent-${opened}`
    server.calendar(id, 'Work')
    for (const [name, ics] of Object.entries(events)) await server.store(id, name, ics)
    const gate = await HttpGate.open(server.port)
    const settings = plainSettings(gate.port, { url: `${gate.url}ana/${id}/` })
    const connect = { settings, secrets: { password: server.password } }
    const timeouts = { ...davTimeouts }
    const kit = await ServiceKit.connected(createCalendarAdapter(timeouts), connect, policy)
    return new CalendarKit(kit, { server, gate, id, timeouts })
  }

  /** The error that a call fails with: its type and its message. */
  override async failure(capability: string, args: object, agent = 'alpha'): Promise<string> {
    const outcome = await this.invoke(capability, args, agent)
    const failure = failureIn(outcome)
    return failure ? `${failure.type}: ${failure.message}` : outcome.kind
  }

  async events(args: object = {}): Promise<readonly ShownEvent[]> {
    const year = { from: '2026-01-01', to: '2027-01-01' }
    return (await this.call('search', { ...year, ...args }))['events'] as readonly ShownEvent[]
  }

  async event(query: string): Promise<ShownEvent> {
    const [found] = await this.events({ query })
    if (!found) throw new Error(`nothing is found for ${query}`)
    return found
  }

  async undo(write: BufferedWrite) {
    const rollback_id = String(write.rollback_id)
    return this.kit.app.rollBack(this.kit.operator(), { rollback_id })
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]()
    await this.gate[Symbol.asyncDispose]()
  }
}
