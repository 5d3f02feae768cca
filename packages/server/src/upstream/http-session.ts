import type { FetchLike } from '@modelcontextprotocol/client'
import { MissingAnswer } from './missing-answer.ts'

type MessageId = string | number | null

const sessionHeader = 'mcp-session-id'
const accepted = 202
const unknown = 404

/**
 * Session of a client up to 2025-11-25 with a server over HTTP, as far as answers tell of it. The library goes on with
 * one that has ended.
 */
export class HttpSession {
  readonly fetch: FetchLike
  #isForgotten = false
  #streams = 0
  #onForgotten: () => void = () => {}
  #onGap: () => void = () => {}

  /** `sse`: over HTTP+SSE, where the session is that of the one stream. */
  constructor(fetch: FetchLike, kind: 'streamable' | 'sse') {
    const take = kind === 'sse' ? fetch : answeringOnly(fetch)
    this.fetch = async (url, init) => {
      const headers = new Headers(init?.headers)
      const names = kind === 'sse' ? init?.method === 'POST' : headers.has(sessionHeader)
      const answer = await take(url, init)
      // A server might still answer on the stream of the session, where it has one.
      if (kind === 'streamable' && this.#streams === 0 && isUnanswered(init, answer))
        throw new MissingAnswer('it took the request and sent no answer')
      if (answer.status === unknown && names && !(await isUnknownMethod(answer))) this.#forget()
      else if (isStream(init, answer) && this.#streams++ > 0) {
        if (kind === 'sse') this.#forget()
        else if (!headers.has('last-event-id')) setImmediate(() => this.#onGap())
      }
      return answer
    }
  }

  /** Whether the server does not know it any more: it takes nothing that is said in it. */
  get isForgotten(): boolean {
    return this.#isForgotten
  }

  /** `onForgotten` is called once; `onGap` whenever the server may have said what nobody heard. */
  listen(listeners: { readonly onForgotten: () => void; readonly onGap: () => void }): void {
    this.#onForgotten = listeners.onForgotten
    this.#onGap = listeners.onGap
  }

  #forget(): void {
    if (this.#isForgotten) return
    this.#isForgotten = true
    // After the request that met it has failed by itself.
    setImmediate(() => this.#onForgotten())
  }
}

const isStream = (init: Parameters<FetchLike>[1], answer: Response): boolean =>
  (init?.method ?? 'GET') === 'GET' && answer.ok && answer.status !== 204

/** Id of the request that is sent, as text; null where none is. */
const idOf = (init: Parameters<FetchLike>[1]): string | null => {
  if (init?.method !== 'POST' || typeof init.body !== 'string') return null
  const message = JSON.parse(init.body) as { readonly method?: unknown; readonly id?: MessageId }
  return message.method === undefined || message.id == null ? null : `${message.id}`
}

/** Taken like a notification, to which nothing is answered. */
const isUnanswered = (init: Parameters<FetchLike>[1], answer: Response): boolean =>
  answer.status === accepted && idOf(init) !== null

const isDocument = ({ ok, headers }: Response): boolean =>
  ok && headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() === 'application/json'

type Message = { readonly id?: MessageId; readonly error?: unknown } | null

/** The same, where a document is no other answer than that of its request: the library would go on waiting for that one. */
const answeringOnly =
  (fetch: FetchLike): FetchLike =>
  async (url, init) => {
    const answer = await fetch(url, init)
    const id = isDocument(answer) ? idOf(init) : null
    if (id === null) return answer
    const read = answer.json.bind(answer)
    const value = async () => answerTo(id, await read())
    return Object.defineProperty(answer, 'json', { value })
  }

const answerTo = (id: string, document: unknown): unknown => {
  const messages = (Array.isArray(document) ? document : [document]) as readonly Message[]
  // Numbers may come back as text.
  if (messages.some((message) => `${message?.id}` === id)) return document
  // Of a request that it could not read, a server does not know the id.
  const refusal = messages.find((message) => message?.id == null && message?.error !== undefined)
  if (refusal) return { ...refusal, id: Number(id) }
  throw new MissingAnswer('what it sent is the answer to another request')
}

/** Some servers use the same status for methods that they do not have. */
const isUnknownMethod = async (answer: Response): Promise<boolean> => {
  const text = await answer.clone().text()
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly code?: unknown } }
    return error?.code === -32601
  } catch {
    return false
  }
}
