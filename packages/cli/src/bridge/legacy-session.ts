import { deliver, pauseAfter, steadyMs, type Way } from './deliver.ts'
import { type Answer, AnswerLost, type Exchange, NotSent } from './gateway.ts'
import { isMembers, notificationText, type Request } from './message.ts'

type Session = { readonly id: string | null; readonly version: string | null }
type Hear = (text: string) => Promise<void>

const sessionUnknown = 404
const noStream = 405
const unauthorized = 401
const ownId = 'gatehouse-bridge'
const none: Session = { id: null, version: null }
const deaf: Hear = () => Promise.resolve()

const headersOf = ({ id, version }: Session): Readonly<Record<string, string>> => ({
  ...(id === null ? {} : { 'mcp-session-id': id }),
  ...(version === null ? {} : { 'mcp-protocol-version': version }),
})

const resultIn = ({ status, text }: Pick<Answer, 'status' | 'text'>) => {
  if (status !== 200 || text === '') return null
  const { result } = JSON.parse(text) as { result?: unknown }
  return isMembers(result) ? result : null
}

const versionIn = (answer: Answer): string | null => {
  const version = resultIn(answer)?.['protocolVersion']
  return typeof version === 'string' ? version : null
}

/** Lists of which the client was promised that it is told. */
const listsIn = (answer: Answer): readonly string[] => {
  const capabilities = resultIn(answer)?.['capabilities']
  return Object.entries(isMembers(capabilities) ? capabilities : {})
    .filter(([, offered]) => isMembers(offered) && offered['listChanged'] === true)
    .map(([list]) => list)
}

/** The client's own words in a request of the bridge. */
const again = ({ line }: Request): string =>
  JSON.stringify({ ...(JSON.parse(line.toString('utf8')) as object), id: ownId })

/**
 * The session of a client that opened with `initialize`. The service forgets it when it restarts: it is
 * opened anew with the client's own words, and the client learns only that what it hears of may have changed.
 */
export class LegacySession {
  readonly #way: Way
  readonly #write: Hear
  readonly #ended: AbortSignal
  #handshake: Request | null = null
  #lists: readonly string[] = []
  /** The client's wish for logs, which is one of the session. */
  #logLevel: Request | null = null
  /** The same for resources that it hears of, by their addresses. */
  readonly #subscribed = new Map<unknown, Request>()
  #session: Promise<Session> = Promise.resolve(none)
  #listening = false

  constructor(way: Way, write: Hear, ended: AbortSignal) {
    this.#way = way
    this.#write = write
    this.#ended = ended
  }

  /** The client's own handshake. Messages that follow at once wait for it. */
  async open(request: Request, signal: AbortSignal): Promise<Answer> {
    const opening = this.#initialize(request.line, signal)
    this.#session = opening.then(
      ({ session }) => session,
      () => none,
    )
    const { answer, session } = await opening
    if (session !== none) this.#handshake = request
    this.#lists = listsIn(answer)
    return answer
  }

  /** A request, whose wishes are said again where the session is opened anew. */
  async ask(request: Request, signal: AbortSignal, repeats: boolean, hear: Hear): Promise<Answer> {
    const answer = await this.send({ body: request.line, signal }, repeats, hear)
    if (resultIn(answer)) this.#keep(request)
    return answer
  }

  #keep(request: Request): void {
    const { method, params } = request
    if (method === 'logging/setLevel') this.#logLevel = request
    if (method === 'resources/subscribe') this.#subscribed.set(params['uri'], request)
    if (method === 'resources/unsubscribe') this.#subscribed.delete(params['uri'])
  }

  async send(what: Pick<Exchange, 'body' | 'signal'>, repeats: boolean, hear: Hear) {
    const session = await this.#current()
    const answer = await this.#post(session, what, repeats, hear)
    // A session that the service does not know was refused before anything was done.
    if (answer.status !== sessionUnknown || session.id === null) return this.#met(answer)
    await this.#renew(session)
    return this.#met(await this.#post(await this.#current(), what, repeats, hear))
  }

  /** Ends the session with the client. */
  async close(signal: AbortSignal): Promise<void> {
    const session = await this.#session
    if (session.id === null) return
    const headers = headersOf(session)
    await this.#way.gateway.exchange({ method: 'DELETE', headers, signal }, deaf)
  }

  #post(session: Session, what: Pick<Exchange, 'body' | 'signal'>, repeats: boolean, hear: Hear) {
    const exchange = { ...what, method: 'POST', headers: headersOf(session) } as const
    return deliver(this.#way, exchange, repeats, hear)
  }

  /** A session exists once the service has taken a message; from now on the bridge listens to it. */
  async #met(answer: Answer): Promise<Answer> {
    if (answer.status < 300 && this.#handshake && !this.#listening) {
      const session = await this.#session
      if (session.id !== null && !this.#listening) void this.#listen(session)
    }
    return answer
  }

  /** The session; where it could not be opened anew the last time, once more. */
  async #current(): Promise<Session> {
    const session = await this.#session
    if (session.id !== null || !this.#handshake) return session
    await this.#renew(session)
    return this.#session
  }

  /** Once for all who found it stale. */
  async #renew(stale: Session): Promise<void> {
    const known = this.#session
    const now = await known
    // Of several that waited for the same one the first has begun already.
    if (now !== stale || this.#session !== known || !this.#handshake) return
    const renewed = this.#reopen(this.#handshake)
    this.#session = renewed.catch(() => none)
    try {
      await renewed
    } catch (cause) {
      // Messages that wait for the session were not sent, whatever became of the handshake.
      throw cause instanceof AnswerLost ? new NotSent(cause.message, { cause }) : cause
    }
  }

  async #initialize(line: Buffer | string, signal: AbortSignal) {
    const exchange = { method: 'POST', headers: {}, body: line, signal } as const
    const answer = await deliver(this.#way, exchange, true, deaf)
    const version = versionIn(answer)
    return { answer, session: version === null ? none : { id: answer.session, version } }
  }

  async #reopen(handshake: Request): Promise<Session> {
    const signal = this.#ended
    const { session } = await this.#initialize(again(handshake), signal)
    if (session.id === null) return none
    const body = notificationText('notifications/initialized')
    await this.#post(session, { body, signal }, true, deaf)
    if (this.#logLevel)
      await this.#post(session, { body: again(this.#logLevel), signal }, true, deaf)
    if (!this.#listening) void this.#listen(session)
    // A person may be asked first: the other messages of the client do not wait for that.
    void this.#subscribeAnew(session).catch(() => undefined)
    for (const list of this.#lists)
      await this.#write(notificationText(`notifications/${list}/list_changed`))
    return session
  }

  /** Each resource may have changed meanwhile; one that the client may not hear of any more it cannot read either. */
  async #subscribeAnew(session: Session): Promise<void> {
    for (const [uri, request] of this.#subscribed) {
      const what = { body: again(request), signal: this.#ended }
      const answer = await this.#post(session, what, true, deaf)
      // Ended meanwhile: it is made anew in the one that follows.
      if (answer.status === sessionUnknown) return
      if (!resultIn(answer)) this.#subscribed.delete(uri)
      await this.#write(notificationText('notifications/resources/updated', { uri }))
    }
  }

  /** Messages that the service sends unasked, until the client ends; also when the service went and came back. */
  async #listen(first: Session): Promise<void> {
    this.#listening = true
    let session = first
    for (let attempt = 0; !this.#ended.aborted; attempt += 1) {
      const startedMs = performance.now()
      try {
        if (session.id === null) session = await this.#current()
        const headers = headersOf(session)
        const exchange = { method: 'GET', headers, signal: this.#ended } as const
        const { status } = await this.#way.gateway.exchange(exchange, this.#write)
        // Without a session the service has no stream to give, whether it has any or not.
        if ((status === noStream && session.id !== null) || status === unauthorized) break
        if (status === sessionUnknown) {
          await this.#renew(session)
          session = await this.#current()
          if (session.id !== null) continue
        }
      } catch {
        // The service has gone, or opens no session; the pauses grow until it is back.
      }
      if (performance.now() - startedMs > steadyMs) attempt = 0
      await pauseAfter(attempt, this.#ended)
    }
    this.#listening = false
  }
}
