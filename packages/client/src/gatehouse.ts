import { readTokenFile, tokenOfEnvironment } from '#platform'
import { attemptCall, attemptQuestion } from './attempts.ts'
import type { AnyName, Given, ResultOf } from './capability-call.ts'
import { ApprovalPending, UnexpectedAnswer, Unreachable } from './gatehouse-error.ts'
import { HttpTransport } from './http-transport.ts'
import { isMembers } from './members.ts'
import type {
  CallOptions,
  EventOptions,
  GateEvent,
  GatehouseOptions,
  WaitOptions,
} from './options.ts'
import { type Fetch, Rpc } from './rpc.ts'
import { SocketTransport } from './socket-transport.ts'
import type { Answer, Sent, Transport } from './transport.ts'
import { Until } from './until.ts'

const waitSecondsMax = 50
const pollSeconds = 50

/** Aborted by the caller, by time, or by `close`: whichever comes first. */
class Deadline {
  readonly #until: Until
  readonly #timer: ReturnType<typeof setTimeout> | undefined
  readonly #late = new DOMException('The time for it is up.', 'TimeoutError')
  readonly #timeoutMs: number | undefined
  readonly #endMs: number

  constructor({ signal, timeoutMs }: WaitOptions, closed: AbortSignal) {
    this.#timeoutMs = timeoutMs
    this.#endMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + timeoutMs
    this.#until = new Until([signal, closed])
    if (timeoutMs !== undefined)
      this.#timer = setTimeout(() => this.#until.abort(this.#late), timeoutMs)
  }

  get signal(): AbortSignal {
    return this.#until.signal
  }

  get secondsLeft(): number {
    return Math.max(0, (this.#endMs - Date.now()) / 1000)
  }

  /** Whether it was time that ended the work which raised this. */
  isTime(thrown: unknown): boolean {
    return thrown === this.#late
  }

  get said(): string {
    return `No answer within ${this.#timeoutMs} ms.`
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#until.end()
  }
}

const trimmed = (url: string): string => {
  if (!/^https?:\/\//.test(url))
    throw new TypeError(`url: ${JSON.stringify(url)} has to begin with http:// or https://.`)
  return url.replace(/\/+$/, '')
}

const createTransport = (
  kind: GatehouseOptions['transport'],
  rpc: Rpc,
  to: { readonly url: string; readonly token: () => Promise<string> },
  client: { readonly name: string; readonly version: string },
): Transport => {
  if (kind === 'websocket') return new SocketTransport(to.url, to.token, client)
  if (kind === undefined || kind === 'http') return new HttpTransport(rpc, client)
  throw new TypeError(`transport: ${JSON.stringify(kind)} is neither "http" nor "websocket".`)
}

/**
 * One agent, in one session. Nothing is sent before the first call. `close` ends the session; so does
 * the end of an `await using`.
 */
export class Gatehouse {
  readonly #options: GatehouseOptions
  readonly #rpc: Rpc
  readonly #transport: Transport
  readonly #closed = new AbortController()
  #token: Promise<string> | null = null

  constructor(options: GatehouseOptions = {}) {
    this.#options = options
    const url = trimmed(options.url ?? 'http://127.0.0.1:7700')
    const token = () => this.#readToken()
    // The global one insists on its own `this`.
    const send: Fetch = options.fetch ?? ((address, init) => fetch(address, init))
    this.#rpc = new Rpc({ url, token, fetch: send })
    const client = options.client ?? { name: 'gatehouse-client', version: '0.1.0' }
    this.#transport = createTransport(options.transport, this.#rpc, { url, token }, client)
  }

  /**
   * Calls a capability and returns its data. A call that waits for a person is followed to its end.
   * Raises the classes of `errors`. A call whose answer was lost is never made again.
   */
  async call<N extends AnyName>(name: N, ...given: Given<N>): Promise<ResultOf<N>> {
    // Arguments have a type that depends on the name; here they are arguments like any others.
    const [args = {}, options = {}] = given as readonly [args?: object, options?: CallOptions]
    const sent = { capability: name, arguments: args, reason: options.reason }
    const data = await this.#until(options, (deadline) => this.#call(sent, options, deadline))
    return data as ResultOf<N>
  }

  /** Waits for a decision, and returns the data of the call that it was about. */
  wait(approvalId: string, options: WaitOptions = {}): Promise<unknown> {
    return this.#until(options, (deadline) => this.#follow(approvalId, deadline, options))
  }

  /**
   * Events for the agent, from the oldest one that is kept. It goes on over broken connections,
   * misses nothing that is kept, and ends when `signal` is aborted or the client closed.
   */
  async *events({ after, signal }: EventOptions = {}): AsyncGenerator<GateEvent, void> {
    const until = new Until([this.#closed.signal, signal])
    try {
      yield* this.#eventsAfter(after, until.signal)
    } finally {
      until.end()
    }
  }

  async *#eventsAfter(
    after: EventOptions['after'],
    ends: AbortSignal,
  ): AsyncGenerator<GateEvent, void> {
    let last = after
    while (!ends.aborted) {
      const place = last === undefined ? {} : { after: last }
      const params = { ...place, timeout_seconds: pollSeconds }
      let polled: unknown
      try {
        polled = await attemptQuestion(() => this.#rpc.request('events.poll', params, ends), ends)
      } catch (thrown) {
        if (ends.aborted) return
        throw thrown
      }
      for (const event of listOf<GateEvent>(polled, 'events')) {
        yield event
        last = event.id
      }
    }
  }

  /** Capabilities that policy lets this agent use, each with the tier that it has for it. */
  async capabilities(
    category?: string,
  ): Promise<readonly { name: string; purpose: string; permission_tier: string }[]> {
    const params = category === undefined ? {} : { category }
    return listOf(await this.request('capabilities.list', params), 'capabilities')
  }

  /** One request of JSON-RPC, of those that the reference has. Never made again by itself. */
  request(method: string, params: object = {}, options: WaitOptions = {}): Promise<unknown> {
    return this.#until(options, (deadline) =>
      this.#inTime(deadline, () => this.#rpc.request(method, params, deadline.signal)),
    )
  }

  /** Ends the session. Calls that wait are given up; their requests stay for a person to decide on. */
  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return
    this.#closed.abort(new Unreachable('The client was closed.', { sent: false }))
    await this.#transport.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #call(call: Sent, options: CallOptions, deadline: Deadline): Promise<unknown> {
    const { onPending, wait = true } = options
    const attempt = () => this.#transport.invoke(call, deadline.signal)
    const answer = await this.#inTime(deadline, () =>
      attemptCall(attempt, this.#options.maxRetries ?? 2, deadline.signal),
    )
    if (answer.kind === 'done') return this.#dataOf(answer, options)
    const { approvalId, message, expiresAt } = answer
    onPending?.({ approvalId, message, expiresAt })
    if (!wait) throw new ApprovalPending(approvalId, message)
    return this.#follow(approvalId, deadline, options)
  }

  async #until<T>(options: WaitOptions, work: (deadline: Deadline) => Promise<T>): Promise<T> {
    const deadline = new Deadline(options, this.#closed.signal)
    try {
      deadline.signal.throwIfAborted()
      return await work(deadline)
    } finally {
      deadline.end()
    }
  }

  async #inTime<T>(deadline: Deadline, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (thrown) {
      throw deadline.isTime(thrown)
        ? new Unreachable(deadline.said, { sent: true, cause: thrown })
        : thrown
    }
  }

  async #follow(approvalId: string, deadline: Deadline, options: WaitOptions): Promise<unknown> {
    const undecided = () =>
      new ApprovalPending(approvalId, `Nobody has decided on ${approvalId} yet.`)
    for (;;) {
      const seconds = Math.min(waitSecondsMax, deadline.secondsLeft)
      if (seconds === 0) throw undecided()
      const asked = () => this.#transport.wait(approvalId, seconds, deadline.signal)
      const answer = await attemptQuestion(asked, deadline.signal).catch((thrown: unknown) => {
        throw deadline.isTime(thrown) ? undecided() : thrown
      })
      if (answer.kind === 'done') return this.#dataOf(answer, options)
    }
  }

  #dataOf(answer: Extract<Answer, { kind: 'done' }>, { onNote }: WaitOptions): unknown {
    if (answer.note !== null) onNote?.(answer.note)
    return answer.data
  }

  /** The token, found once; where it was not, the next call looks again. */
  #readToken(): Promise<string> {
    this.#token ??= this.#findToken().catch((thrown: unknown) => {
      this.#token = null
      throw thrown
    })
    return this.#token
  }

  async #findToken(): Promise<string> {
    const { token, tokenFile } = this.#options
    const found = tokenFile === undefined ? token : await readTokenFile(tokenFile)
    const used = found ?? tokenOfEnvironment()
    if (used) return used
    throw new TypeError('There is no token: give tokenFile, token or GATEHOUSE_AGENT_TOKEN.')
  }
}

const listOf = <T>(answer: unknown, member: string): readonly T[] => {
  const list = isMembers(answer) ? answer[member] : undefined
  if (Array.isArray(list)) return list as T[]
  throw new UnexpectedAnswer(`The answer has no list of ${member}.`)
}
