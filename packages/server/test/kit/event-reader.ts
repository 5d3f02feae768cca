import { until } from '@gatehouse/testkit/until'
import type { Message } from './mcp-peer.ts'

/** The messages of server-sent events. */
export const messagesIn = (text: string): Message[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Message)

/** Takes the next message of that method out of them once there is one. */
export const takeNext = async (
  messages: Message[],
  method: string,
): Promise<Record<string, unknown>> => {
  let taken: Message | undefined
  await until(() => {
    const at = messages.findIndex((message) => message.method === method)
    if (at >= 0) [taken] = messages.splice(at, 1)
    return at >= 0
  })
  return taken?.params ?? {}
}

/** One open stream of events, and what came on it. */
export class EventReader {
  readonly messages: Message[] = []
  readonly closed: Promise<void>
  readonly #leave: AbortController

  constructor(body: ReadableStream<Uint8Array>, leave: AbortController) {
    this.#leave = leave
    this.closed = this.#read(body)
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let rest = ''
    try {
      for await (const chunk of body) {
        rest += Buffer.from(chunk).toString()
        const end = rest.lastIndexOf('\n\n')
        if (end < 0) continue
        this.messages.push(...messagesIn(rest.slice(0, end)))
        rest = rest.slice(end + 2)
      }
    } catch {
      // It was left.
    }
  }

  /** The next message of that method that nobody has asked for before. */
  next(method: string): Promise<Record<string, unknown>> {
    return takeNext(this.messages, method)
  }

  async leave(): Promise<void> {
    this.#leave.abort()
    await this.closed
  }
}
