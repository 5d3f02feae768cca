import { CliError } from '../cli-error.ts'
import { deliver, type Way } from './deliver.ts'
import { type Answer, AnswerLost, NotSent } from './gateway.ts'
import { LegacySession } from './legacy-session.ts'
import {
  codes,
  errorText,
  type Failure,
  type Id,
  isId,
  type Message,
  modernHeaders,
  type Notification,
  parseMembers,
  type Request,
  readMessage,
} from './message.ts'
import { MirroredCalls } from './mirrored-calls.ts'
import type { Line } from './read-lines.ts'
import { subscribe } from './subscription.ts'

/** Requests that are open at a time; a client has no use for more. */
const openMax = 1_000
/** How long running requests may take to be answered once the client has closed its side. */
const graceMs = 1_500
/** How long the session may take to end then: with the grace less than the four seconds after which clients kill. */
const goodbyeMs = 2_000

/** Reading twice does no harm: these are sent again where the answer was lost. */
const readingMethods: ReadonlySet<string> = new Set([
  'initialize',
  'ping',
  'server/discover',
  'tools/list',
  'tasks/get',
])

type Write = (text: string) => Promise<void>
export type BridgeDeps = {
  readonly way: Way
  readonly write: Write
  /** A line for the log of the client. */
  readonly note: (text: string) => Promise<void>
}

const lostText =
  'The connection to Gatehouse broke while this call ran. It may have run. See what it would have changed before you repeat it; a call that waits for approval is found again by repeating it.'

const failureOf = (thrown: unknown): Failure => {
  if (thrown instanceof AnswerLost)
    return { code: codes.internal, message: lostText, data: { type: 'AnswerLost' } }
  if (thrown instanceof NotSent)
    return {
      code: codes.internal,
      message: `Gatehouse is not reachable (${thrown.message}). Nothing was run.`,
      data: {
        type: 'NotReachable',
        recovery: [{ action: 'gatehouse serve', description: 'A person starts the service.' }],
      },
    }
  if (thrown instanceof CliError) {
    const { type, message, recovery } = thrown
    return { code: codes.internal, message, data: { type, recovery } }
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return { code: codes.internal, message, data: { type: 'InternalError' } }
}

/** The text for the client: a refusal of the whole HTTP request says nothing of the id. */
const answerText = (id: Id, { status, text }: Pick<Answer, 'status' | 'text'>): string => {
  if (status === 200 && text !== '') return text
  const refusal = parseMembers(text)
  if (refusal && 'error' in refusal) return JSON.stringify({ ...refusal, id })
  const message = `The gateway answered with HTTP ${status} and no message of MCP`
  return errorText(id, { code: codes.internal, message, data: { type: 'UnexpectedAnswer' } })
}

const settled = (promises: Iterable<Promise<unknown>>, withinMs: number): Promise<unknown> => {
  const late = new Promise((resolve) => setTimeout(resolve, withinMs).unref())
  return Promise.race([Promise.allSettled(promises), late])
}

type OpenRequest = {
  readonly isModern: boolean
  /** Ends the exchange with the service. */
  readonly abandon: AbortController
  /** The client has forgotten it, so that it is not answered. */
  isCancelled: boolean
}

const isAwaited = ({ isCancelled, abandon }: OpenRequest): boolean =>
  !isCancelled && !abandon.signal.aborted

const deaf: Write = () => Promise.resolve()

/** Messages of one client on its standard streams, and the same ones over HTTP, until the client ends. */
export class Bridge {
  readonly #deps: BridgeDeps
  readonly #legacy: LegacySession
  readonly #modern: MirroredCalls
  readonly #ended = new AbortController()
  readonly #subscriptions = new AbortController()
  readonly #open = new Map<Id, OpenRequest>()
  readonly #work = new Set<Promise<void>>()

  constructor(deps: BridgeDeps) {
    this.#deps = deps
    this.#modern = new MirroredCalls(deps.way)
    this.#legacy = new LegacySession(deps.way, deps.write, this.#ended.signal)
  }

  async run(lines: AsyncIterable<Line>): Promise<void> {
    for await (const line of lines) {
      const work = this.#take(line).finally(() => this.#work.delete(work))
      this.#work.add(work)
    }
    this.#subscriptions.abort()
    await settled(this.#work, graceMs)
    this.#ended.abort()
    for (const { abandon } of this.#open.values()) abandon.abort()
    await this.#legacy.close(AbortSignal.timeout(goodbyeMs)).catch(() => undefined)
  }

  async #take(line: Line): Promise<void> {
    const message: Message =
      line === null
        ? { kind: 'refused', error: this.#refusal(null, 'the line is too long') }
        : readMessage(line)
    switch (message.kind) {
      case 'request':
        return this.#request(message)
      case 'notification':
        return this.#notification(message)
      case 'batch':
        return this.#batch(message)
      case 'refused':
        return this.#deps.write(message.error)
      case 'answer':
        return
    }
  }

  #refusal(id: Id | null, detail: string): string {
    return errorText(id, { code: codes.invalidRequest, message: `Invalid request: ${detail}` })
  }

  async #request(request: Request): Promise<void> {
    const { id } = request
    if (this.#open.has(id)) {
      return this.#deps.write(this.#refusal(id, 'a request with this id still runs'))
    }
    if (this.#open.size >= openMax) {
      return this.#deps.write(this.#refusal(id, `${openMax} requests are open already`))
    }
    const isModern = request.version !== null
    const open: OpenRequest = { isModern, abandon: new AbortController(), isCancelled: false }
    this.#open.set(id, open)
    try {
      const text = await this.#answer(request, open)
      if (text !== null && isAwaited(open)) await this.#deps.write(text)
    } finally {
      this.#open.delete(id)
    }
  }

  /** The text that is still to be written; null where the answer came in a stream. */
  async #answer(request: Request, open: OpenRequest): Promise<string | null> {
    const { id, method } = request
    const { signal } = open.abandon
    try {
      if (open.isModern && method === 'subscriptions/listen') {
        const until = AbortSignal.any([signal, this.#subscriptions.signal])
        const ended = await subscribe(this.#deps.way, request, until, this.#deps.write)
        return ended && answerText(id, ended)
      }
      let isAnswered = false
      const answer = await this.#exchange(request, signal, async (text) => {
        isAnswered ||= parseMembers(text)?.['id'] === id
        if (isAwaited(open)) await this.#deps.write(text)
      })
      if (!isAnswered && answer.status === 200 && answer.text === '')
        throw new AnswerLost('the stream ended without the answer')
      return isAnswered ? null : answerText(id, answer)
    } catch (thrown) {
      const failure = failureOf(thrown)
      if (isAwaited(open)) await this.#deps.note(`${method}: ${failure.message}`)
      return errorText(id, failure)
    }
  }

  #exchange(request: Request, signal: AbortSignal, hear: Write): Promise<Answer> {
    const { method } = request
    const repeats = readingMethods.has(method)
    if (request.version !== null) return this.#modern.exchange(request, signal, repeats, hear)
    if (method === 'initialize') return this.#legacy.open(request, signal)
    return this.#legacy.ask(request, signal, repeats, hear)
  }

  /** Nobody waits for what became of it: what cannot be delivered is dropped. */
  async #notification(message: Notification): Promise<void> {
    const { method, version, line: body } = message
    const signal = this.#ended.signal
    try {
      if (method === 'notifications/cancelled') await this.#cancel(message)
      else if (version === null) await this.#legacy.send({ body, signal }, false, deaf)
      else {
        const headers = modernHeaders(message)
        await deliver(this.#deps.way, { method: 'POST', headers, body, signal }, false, deaf)
      }
    } catch (thrown) {
      if (!signal.aborted) await this.#deps.note(`${method}: ${failureOf(thrown).message}`)
    }
  }

  /** Closing its connection cancels a call of the newer era; of an older one the service has to be told. */
  async #cancel({ params, line }: Notification): Promise<void> {
    const { requestId: id } = params
    const open = isId(id) ? this.#open.get(id) : undefined
    if (!open) return
    open.isCancelled = true
    if (!open.isModern)
      await this.#legacy.send({ body: line, signal: this.#ended.signal }, false, deaf)
    open.abandon.abort()
  }

  async #batch({ ids, line }: Extract<Message, { kind: 'batch' }>): Promise<void> {
    const { write } = this.#deps
    const signal = this.#ended.signal
    try {
      const { text } = await this.#legacy.send({ body: line, signal }, false, write)
      if (text !== '') await write(text)
    } catch (thrown) {
      const failure = failureOf(thrown)
      if (ids.length > 0) await write(`[${ids.map((id) => errorText(id, failure)).join(',')}]`)
    }
  }
}
