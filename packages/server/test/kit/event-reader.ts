import type { Message } from './mcp-peer.ts'

/** The messages of server-sent events. */
export const messagesIn = (text: string): Message[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Message)

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
  async next(method: string): Promise<Record<string, unknown>> {
    for (;;) {
      const at = this.messages.findIndex((message) => message.method === method)
      if (at >= 0) return this.messages.splice(at, 1)[0]?.params ?? {}
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  }

  async leave(): Promise<void> {
    this.#leave.abort()
    await this.closed
  }
}
