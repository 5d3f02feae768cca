import { GatehouseError } from '@gatehouse/contract'
import type { ServiceConnection } from '../../../ports/service-adapter.ts'
import { type DavAnswer, DavClient, type DavRequest, type DavTimeouts } from './dav-client.ts'
import { unavailable } from './describe-dav.ts'
import { type Multistatus, parseMultistatus } from './multistatus.ts'
import { type CalendarSettings, calendarSettings } from './settings.ts'

const asked = (props: string): string =>
  `<?xml version="1.0" encoding="utf-8"?>\n<d:propfind xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:cs="http://calendarserver.org/ns/"><d:prop>${props}</d:prop></d:propfind>`

const xmlType = { 'content-type': 'application/xml; charset=utf-8' }

/** Where the calendars are: below an address, or at it. */
export type CalendarHome = { readonly url: URL; readonly depth: '0' | '1' }

/** An account as the adapter uses it: no connection stays open, so there is nothing to break. */
export class CalendarAccount implements AsyncDisposable {
  readonly connection: ServiceConnection
  readonly settings: CalendarSettings
  readonly client: DavClient
  /** Where its calendars are, once that is known. */
  home: CalendarHome | null = null

  constructor(connection: ServiceConnection, timeouts: DavTimeouts) {
    this.connection = connection
    this.settings = calendarSettings.parse(connection.settings)
    this.client = new DavClient(connection, this.settings, timeouts)
  }

  get zone(): string {
    return this.settings.time_zone
  }

  /** Raises `DavFailure` and what it may not do; any status is an answer. */
  send(request: DavRequest, signal: AbortSignal): Promise<DavAnswer> {
    return this.client.send(request, signal)
  }

  /** Raises `DavFailure`, `DavRefusal`, `XmlInvalid`. */
  async propfind(
    url: URL,
    depth: '0' | '1',
    props: string,
    signal: AbortSignal,
  ): Promise<Multistatus & { readonly url: URL }> {
    const headers = { ...xmlType, depth }
    const answer = await this.send({ method: 'PROPFIND', url, headers, body: asked(props) }, signal)
    return { ...parseMultistatus(answer), url: answer.url }
  }

  /** Raises `DavFailure`, `DavRefusal`, `XmlInvalid`. */
  async report(url: URL, body: string, signal: AbortSignal): Promise<Multistatus> {
    const headers = { ...xmlType, depth: '1' }
    const whole = `<?xml version="1.0" encoding="utf-8"?>\n${body}`
    return parseMultistatus(
      await this.send({ method: 'REPORT', url, headers, body: whole }, signal),
    )
  }

  /** Runs `work`; what the server does wrong is raised as `ServiceUnavailable`, with what it was. */
  async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.unavailable(error)
    }
  }

  unavailable(error: unknown): unknown {
    return unavailable(this.connection.service, this.settings, error)
  }

  /** The address of a path that this server told; a path of elsewhere is a mistake of ours. */
  at(path: string): URL {
    const base = this.home?.url ?? new URL(this.settings.url)
    const url = new URL(path, base)
    if (url.origin !== base.origin)
      throw new GatehouseError('ServiceUnavailable', {
        service: this.connection.service,
        detail: 'the path is one of another server',
      })
    return url
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** A path in one spelling, whatever the server escapes today; null for one that is none. */
export const pathOf = (href: string, base: URL): string | null => {
  try {
    const { pathname, origin } = new URL(href, base)
    if (origin !== base.origin) return null
    return pathname
      .split('/')
      .map((part) => encodeURIComponent(decodeURIComponent(part)).replaceAll('%40', '@'))
      .join('/')
  } catch {
    return null
  }
}
