import * as http from 'node:http'
import { openRequest } from '@gatehouse/server/connections/open-request'
import { readEvents } from './event-stream.ts'
import { isMembers, parseMembers } from './message.ts'

/** Nothing of the message reached the service, so it may be sent again. */
export class NotSent extends Error {}

/** The service may have acted on the message, and its answer will never come. */
export class AnswerLost extends Error {}

export type Exchange = {
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer | string
  readonly signal: AbortSignal
}

export type Answer = {
  readonly status: number
  readonly session: string | null
  /** The JSON that was answered; empty where there is none, and where it came as a stream. */
  readonly text: string
}

/**
 * A refusal of whatever is sent at the moment: the service stops, or is busy, and nobody is served. Its answer is for a
 * client that is to wait no longer.
 */
export class TakesNone extends NotSent {
  readonly answer: Answer

  constructor(answer: Answer) {
    super('the service takes nothing at the moment')
    this.answer = answer
  }
}

/** Where the service listens now; null where none runs. It may have moved since the last look. */
export type Locate = () => Promise<URL | null>
export type Token = { read(): Promise<string> }

/** The service closes a connection that is idle for 30 s; ours are closed before that. */
const idleMs = 20_000
const statusUnauthorized = 401
/** Statuses that a proxy before the service answers with, too, where there is none behind it. */
const awayStatuses: ReadonlySet<number> = new Set([502, 503, 504])

/** Only white space between members can hold a line break, so taking it out changes nothing. */
const oneLine = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ').trim()

const readText = async (response: http.IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return oneLine(Buffer.concat(chunks).toString('utf8'))
}

const isOf = ({ headers }: http.IncomingMessage, type: string): boolean =>
  headers['content-type']?.startsWith(type) ?? false

/** An agent that asks too much at once is refused as well, but knows its limit by it. */
const isForAll = (error: unknown): boolean => {
  const data = isMembers(error) ? error['data'] : undefined
  return isMembers(data) && data['reason'] === 'overloaded' && data['limit'] === 0
}

const assertThere = (answer: Answer): void => {
  if (!awayStatuses.has(answer.status)) return
  const error = parseMembers(answer.text)?.['error']
  if (isForAll(error)) throw new TakesNone(answer)
  // The service may have got it and gone before its answer.
  if (error === undefined) throw new AnswerLost(`HTTP ${answer.status} came in place of an answer`)
}

/** Module that speaks HTTP or HTTPS; the latter is loaded where it is used. */
const carrierOf = async ({ protocol }: URL): Promise<Pick<typeof http, 'Agent' | 'request'>> =>
  protocol === 'https:' ? await import('node:https') : http

/** The MCP endpoint of the service over Streamable HTTP. */
export class Gateway implements Disposable {
  readonly #locate: Locate
  readonly #tokens: Token
  #agent: http.Agent | null = null
  #token: Promise<string> | null = null
  #wasReached = false

  constructor(locate: Locate, tokens: Token) {
    this.#locate = locate
    this.#tokens = tokens
  }

  /** Whether a service has ever answered. */
  get wasReached(): boolean {
    return this.#wasReached
  }

  /** One request, and each message of its answer, if that is a stream, as it comes. */
  async exchange(what: Exchange, hear: (text: string) => Promise<void>): Promise<Answer> {
    const { answer: first, token } = await this.#once(what, hear)
    if (first.status !== statusUnauthorized) return first
    // A refused message was not acted on. The file may hold a new token by now, and another exchange may have read it.
    if ((await this.#token) === token) this.#token = null
    return (await this.#readToken()) === token ? first : (await this.#once(what, hear)).answer
  }

  [Symbol.dispose](): void {
    this.#agent?.destroy()
  }

  #readToken(): Promise<string> {
    this.#token ??= this.#tokens.read().catch((thrown: unknown) => {
      this.#token = null
      throw thrown
    })
    return this.#token
  }

  async #once(
    what: Exchange,
    hear: (text: string) => Promise<void>,
  ): Promise<{ readonly answer: Answer; readonly token: string }> {
    const url = await this.#locate()
    if (!url) throw new NotSent('no service runs')
    const token = await this.#readToken()
    const response = await this.#send(url, what, token)
    this.#wasReached = true
    const session = response.headers['mcp-session-id']
    const answer = {
      status: response.statusCode ?? 0,
      session: typeof session === 'string' ? session : null,
    }
    let text = ''
    try {
      if (isOf(response, 'text/event-stream'))
        for await (const event of readEvents(response)) await hear(event)
      else text = await readText(response)
    } catch (cause) {
      throw new AnswerLost('the answer broke off', { cause })
    }
    const whole = { ...answer, text: isOf(response, 'application/json') ? text : '' }
    assertThere(whole)
    return { answer: whole, token }
  }

  async #send(url: URL, what: Exchange, token: string): Promise<http.IncomingMessage> {
    const { method, headers, body, signal } = what
    const { Agent, request } = await carrierOf(url)
    this.#agent ??= new Agent({ keepAlive: true, timeout: idleMs })
    const options: http.RequestOptions = {
      method,
      signal,
      agent: this.#agent,
      headers: {
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${token}`,
        ...headers,
        ...(body === undefined
          ? {}
          : {
              'content-type': 'application/json',
              'content-length': String(Buffer.byteLength(body)),
            }),
      },
    }
    const sent = await openRequest(() => request(url, options)).catch((cause: Error) => {
      throw new NotSent(cause.message, { cause })
    })
    return new Promise((resolve, reject) => {
      let connected = !sent.socket?.connecting
      sent.socket?.once('connect', () => (connected = true))
      sent.once('response', resolve)
      sent.once('error', (cause) => {
        const Kind = connected ? AnswerLost : NotSent
        reject(new Kind(cause.message, { cause }))
      })
      sent.end(body)
    })
  }
}
