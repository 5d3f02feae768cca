import type { BufferedWrite } from '@gatehouse/contract'
import { createCalendarAdapter } from '@gatehouse/server/proxy/adapters/calendar/calendar-adapter'
import { createKit, failureIn, type Kit } from '@gatehouse/testkit'
import { HttpGate } from '@gatehouse/testkit/caldav-server/http-gate'
import type { CalendarFolder, Radicale } from '@gatehouse/testkit/caldav-server/radicale'
import { until, usual } from '../proxy/kit.ts'
import { plainSettings, quickTimeouts } from './kit.ts'

/** Agents may do everything with calendars, so that tests speak of what it does. */
export const freely = 'version: 1\nrules:\n  - { match: "calendar.*", tier: autonomous }\n'

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
export class CalendarKit implements AsyncDisposable {
  readonly kit: Kit
  readonly server: Radicale
  readonly gate: HttpGate
  readonly calendar: CalendarFolder
  /** Of the calendar at the server. */
  readonly id: string

  private constructor(kit: Kit, server: Radicale, gate: HttpGate, id: string) {
    this.kit = kit
    this.server = server
    this.gate = gate
    this.id = id
    this.calendar = server.calendar(id)
  }

  /** `events` are there before the first sync, for which it waits. */
  static async open(
    server: Radicale,
    events: Readonly<Record<string, string>> = {},
    policy = freely,
  ): Promise<CalendarKit> {
    opened += 1
    const id = `agent-${opened}`
    server.calendar(id, 'Work')
    for (const [name, ics] of Object.entries(events)) await server.store(id, name, ics)
    const gate = await HttpGate.open(server.port)
    const adapter = createCalendarAdapter(quickTimeouts)
    const kit = await createKit({
      policy,
      services: { adapters: new Map([['calendar', adapter]]), proxy: usual },
    })
    for (const name of ['alpha', 'beta']) await kit.agent(name)
    await kit.app.connectService(kit.operator(), {
      kind: 'calendar',
      settings: plainSettings(gate.port, { url: `${gate.url}ana/${id}/` }),
      secrets: { password: server.password },
      agents: ['alpha'],
    })
    const box = new CalendarKit(kit, server, gate, id)
    await until(async () => (await box.service()).status === 'connected', 'the first sync')
    return box
  }

  async service() {
    const { services } = await this.kit.app.showProxy(this.kit.operator())
    const [service] = services
    if (!service) throw new Error('there is no service')
    return service
  }

  /** What a call answers; one that fails throws its error. */
  async call(capability: string, args: object = {}, agent = 'alpha') {
    const outcome = await this.kit.invoke(agent, `calendar.${capability}`, args)
    if (outcome.kind === 'succeeded') return outcome.data
    throw new Error(JSON.stringify(outcome))
  }

  /** The error that a call fails with: its type and its message. */
  async failure(capability: string, args: object, agent = 'alpha'): Promise<string> {
    const outcome = await this.kit.invoke(agent, `calendar.${capability}`, args)
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

  async write(id: unknown): Promise<BufferedWrite> {
    const { writes } = await this.kit.app.listWrites(this.kit.operator(), {
      limit: 1_000,
      offset: 0,
    })
    const found = writes.find((one) => one.id === id)
    if (!found) throw new Error(`there is no write ${String(id)}`)
    return found
  }

  /** Lets the write's time come, and waits until it stands so. */
  async settled(id: unknown, status: string, moveMs = 60_000): Promise<BufferedWrite> {
    this.kit.clock.move(moveMs)
    await until(async () => (await this.write(id)).status === status, `${String(id)} ${status}`)
    return this.write(id)
  }

  async undo(write: BufferedWrite) {
    const rollback_id = String(write.rollback_id)
    return this.kit.app.rollBack(this.kit.operator(), { rollback_id })
  }

  /** Reads what is new. */
  async sync(): Promise<void> {
    const before = (await this.service()).last_sync
    this.kit.clock.move(1)
    await this.kit.app.syncService(this.kit.operator(), { name: 'calendar', full: false })
    await until(async () => (await this.service()).last_sync !== before, 'a sync')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kit[Symbol.asyncDispose]()
    await this.gate[Symbol.asyncDispose]()
  }
}
