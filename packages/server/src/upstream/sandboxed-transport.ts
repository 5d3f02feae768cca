import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { visibleText } from '../domain/upstream/visible-text.ts'
import type { SandboxChild } from '../ports/sandbox.ts'

const lineBytesMax = 16 * 1024 * 1024
const saidMax = 4_000
const graceMs = 2_000
/** Messages that answer nothing, in a second. */
const unaskedMax = 2_000
/** Messages between two rests, in which the service answers others. */
const sliceMax = 100

const newline = 0x0a
const lineShownMax = 300
const failing = /error|fatal|cannot|can't|not found|denied|refused|missing|required|usage/i

/** Messages to a program in the sandbox, one a line over its standard input and output. */
export class SandboxedTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: NonNullable<Transport['onmessage']>
  readonly #child: SandboxChild
  #said = ''
  #reason: string | null = null
  #unasked = { since: 0, count: 0 }
  #unsent = ''
  #sending: Promise<void> | null = null
  #closing: Promise<void> | null = null

  constructor(child: SandboxChild) {
    this.#child = child
  }

  /** Why it is closed; null while it is open. */
  get reason(): string | null {
    return this.#reason
  }

  /** The line of its error output that tells most; null where it said nothing. */
  get lastSaid(): string | null {
    const lines = this.#said
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
    const telling = lines.findLast((line) => failing.test(line)) ?? lines.at(-1)
    return telling === undefined ? null : visibleText(telling, lineShownMax)
  }

  async start(): Promise<void> {
    void this.#read().catch(() => this.#fail('its output broke off'))
    void this.#listen().catch(() => {})
    void this.#child.exited.then(({ code, signal }) => {
      this.#fail(signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`)
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#reason !== null) throw new Error(this.#reason)
    this.#unsent += `${JSON.stringify(message)}\n`
    await (this.#sending ??= this.#sendAll())
  }

  /** Calls begin several in a turn, as their group of the log is stored: their messages leave in one write. */
  async #sendAll(): Promise<void> {
    await new Promise<void>((resolve) => process.nextTick(resolve))
    const text = this.#unsent
    this.#unsent = ''
    this.#sending = null
    await this.#child.stdin.write(Buffer.from(text))
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#reason ??= 'it was closed'
    this.#child.stdin.end()
    await this.#child.end(graceMs)
    this.onclose?.()
  }

  #fail(reason: string): void {
    this.#reason ??= reason
    void this.close()
  }

  async #read(): Promise<void> {
    let parts: Uint8Array[] = []
    let bytes = 0
    let slice = 0
    for await (const chunk of this.#child.stdout) {
      let from = 0
      for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
        const line = chunk.subarray(from, at)
        const isTold = this.#receive(parts.length === 0 ? line : Buffer.concat([...parts, line]))
        if (this.#reason !== null) return
        parts = []
        bytes = 0
        from = at + 1
        slice += 1
        // The client handles what it is told a moment later, and an answer at once: told before, it comes before.
        if (isTold || slice % sliceMax === 0) await new Promise((resolve) => setImmediate(resolve))
      }
      // Copied: the rest must not keep a large chunk.
      if (from < chunk.length) parts.push(Uint8Array.prototype.slice.call(chunk, from))
      bytes += chunk.length - from
      if (bytes > lineBytesMax)
        return this.#fail(`it sent a message of more than ${lineBytesMax} bytes`)
    }
  }

  /** Returns whether it was something that the server tells, and no answer. */
  #receive(line: Uint8Array): boolean {
    const text = Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString('utf8').trim()
    if (text === '') return false
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch {
      // Many programs print to the wrong output. It is no message, and harms nobody.
      this.#heard(`${text.slice(0, 200)}\n`)
      return false
    }
    if (!isMessage(message)) return false
    const isTold = 'method' in message
    if (isTold && !this.#mayTell()) {
      this.#fail(`it sent more than ${unaskedMax} messages a second that nobody had asked for`)
      return false
    }
    this.onmessage?.(message as JSONRPCMessage)
    return isTold
  }

  #mayTell(): boolean {
    const second = Math.floor(performance.now() / 1_000)
    if (second !== this.#unasked.since) this.#unasked = { since: second, count: 0 }
    this.#unasked.count += 1
    return this.#unasked.count <= unaskedMax
  }

  async #listen(): Promise<void> {
    const decoder = new TextDecoder()
    for await (const chunk of this.#child.stderr)
      this.#heard(decoder.decode(chunk, { stream: true }))
  }

  #heard(text: string): void {
    this.#said = (this.#said + text).slice(-saidMax)
  }
}

const isMessage = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && 'jsonrpc' in value
