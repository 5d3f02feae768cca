import { deliver, pauseAfter, steadyMs, type Way } from './deliver.ts'
import { type Answer, AnswerLost, type Exchange, NotSent } from './gateway.ts'
import { isMembers, type Request } from './message.ts'

type Session = { readonly id: string | null; readonly version: string | null }
type Hear = (text: string) => Promise<void>

const sessionUnknown = 404
const noStream = 405
const unauthorized = 401
/** Well within the half hour after which the service ends a session that nobody uses. */
const touchMs = 10 * 60_000

const ownId = 'gatehouse-bridge'
const none: Session = { id: null, version: null }
const deaf: Hear = () => Promise.resolve()

const notice = (method: string): string => JSON.stringify({ jsonrpc: '2.0', method })

const headersOf = ({ id, version }: Session): Readonly<Record<string, string>> => ({
  ...(id === null ? {} : { 'mcp-session-id': id }),
  ...(version === null ? {} : { 'mcp-protocol-version': version }),
})

const versionIn = (text: string): string | null => {
  const { result } = JSON.parse(text) as { result?: unknown }
  const version = isMembers(result) ? result['protocolVersion'] : null
  return typeof version === 'string' ? version : null
}

/**
 * The session of a client that opened with `initialize`. The service forgets it when it restarts: it is
 * opened anew with the client's own words, and the client learns only that its tools may have changed.
 */
export class LegacySession {
  readonly #way: Way
  readonly #write: Hear
  readonly #ended: AbortSignal
  #handshake: Request | null = null
  /** The client's wish for logs, which is one of the session. */
  #logLevel: Request | null = null
  #session: Promise<Session> = Promise.resolve(none)
  #listening = false
  #touched: NodeJS.Timeout | null = null

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
    return answer
  }

  /** Said again where the session is opened anew. */
  keepLogLevel(request: Request): void {
    this.#logLevel = request
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
    if (this.#touched) clearInterval(this.#touched)
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
      if (session.id !== null) void this.#listen(session)
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
    const now = await this.#session
    if (now !== stale || !this.#handshake) return
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
    const opened = answer.status === 200 && answer.text !== ''
    const version = opened ? versionIn(answer.text) : null
    return { answer, session: version === null ? none : { id: answer.session, version } }
  }

  async #reopen({ line }: Request): Promise<Session> {
    const signal = this.#ended
    const own = { ...(JSON.parse(line.toString('utf8')) as object), id: ownId }
    const { session } = await this.#initialize(JSON.stringify(own), signal)
    if (session.id === null) return none
    await this.#post(session, { body: notice('notifications/initialized'), signal }, true, deaf)
    if (this.#logLevel) {
      const level = JSON.parse(this.#logLevel.line.toString('utf8')) as object
      const body = JSON.stringify({ ...level, id: ownId })
      await this.#post(session, { body, signal }, true, deaf)
    }
    if (!this.#listening) void this.#listen(session)
    await this.#write(notice('notifications/tools/list_changed'))
    return session
  }

  /** Messages that the service sends unasked, until the client ends; also when the service went and came back. */
  async #listen(first: Session): Promise<void> {
    this.#listening = true
    this.#touched ??= setInterval(() => void this.#touch(), touchMs).unref()
    let session = first
    for (let attempt = 0; !this.#ended.aborted; attempt += 1) {
      const headers = headersOf(session)
      const exchange = { method: 'GET', headers, signal: this.#ended } as const
      const startedMs = performance.now()
      try {
        const { status } = await this.#way.gateway.exchange(exchange, this.#write)
        if (status === noStream || status === unauthorized) break
        if (status === sessionUnknown) {
          await this.#renew(session)
          session = await this.#session
          if (session.id !== null) continue
          break
        }
      } catch {
        // The service has gone; the pauses grow until it is back.
      }
      if (performance.now() - startedMs > steadyMs) attempt = 0
      await pauseAfter(attempt, this.#ended)
    }
    this.#listening = false
  }

  async #touch(): Promise<void> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ownId, method: 'ping' })
    await this.send({ body, signal: this.#ended }, true, deaf).catch(() => undefined)
  }
}
