import type { FetchLike } from '@modelcontextprotocol/client'
import { MissingAnswer } from './missing-answer.ts'

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
    this.fetch = async (url, init) => {
      const headers = new Headers(init?.headers)
      const names = kind === 'sse' ? init?.method === 'POST' : headers.has(sessionHeader)
      const answer = await fetch(url, init)
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

/** Taken like a notification, to which nothing is answered. */
const isUnanswered = (init: Parameters<FetchLike>[1], answer: Response): boolean => {
  if (answer.status !== accepted || typeof init?.body !== 'string') return false
  const message: unknown = JSON.parse(init.body)
  return typeof message === 'object' && message !== null && 'method' in message && 'id' in message
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
