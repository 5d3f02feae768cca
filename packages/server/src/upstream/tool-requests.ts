import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type JSONRPCMessage,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type Transport,
} from '@modelcontextprotocol/client'

type Members = Readonly<Record<string, unknown>>

export type ToolRequest = {
  readonly params: Members
  readonly headers?: Readonly<Record<string, string>>
  /** Aborting cancels the request at the server, also where its time is over: no timer of its own is set for each. */
  readonly signal: AbortSignal
  progress(done: number, total?: number, message?: string): void
}

/** The sender of each message, in the versions in which each says it. */
export type Sender = {
  readonly version: string
  readonly info: Implementation
  readonly capabilities: ClientCapabilities
}

type Answer = {
  readonly jsonrpc: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/** Ids of the official client on the same connection count from 0, and do not come that far. */
const firstId = 1_000_000_000

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isOptional = (value: unknown, type: 'number' | 'string'): boolean =>
  value === undefined || typeof value === type

/** One request that waits for its answer. */
class Waiting {
  readonly answered: Promise<Members>
  readonly #request: ToolRequest
  readonly #onAbort: () => void
  #resolve: (result: Members) => void = () => {}
  #reject: (cause: unknown) => void = () => {}

  constructor(request: ToolRequest, cancel: (cause: unknown) => void) {
    this.#request = request
    this.answered = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    const { signal } = request
    this.#onAbort = () => cancel(signal.reason)
    signal.addEventListener('abort', this.#onAbort)
  }

  take({ jsonrpc, result, error }: Answer): void {
    this.#over()
    if (jsonrpc === '2.0' && isMembers(result) && error === undefined) return this.#resolve(result)
    if (jsonrpc === '2.0' && isMembers(error) && result === undefined) {
      const { code, message, data } = error
      if (Number.isInteger(code) && typeof message === 'string')
        return this.#reject(ProtocolError.fromError(code as number, message, data))
    }
    this.#reject(new SdkError(SdkErrorCode.InvalidResult, 'neither a result nor an error'))
  }

  told({ progress, total, message }: Members): void {
    if (typeof progress !== 'number') return
    if (!isOptional(total, 'number') || !isOptional(message, 'string')) return
    this.#request.progress(progress, total as number | undefined, message as string | undefined)
  }

  fail(cause: unknown): void {
    this.#over()
    this.#reject(cause)
  }

  #over(): void {
    this.#request.signal.removeEventListener('abort', this.#onAbort)
  }
}

/**
 * Calls of tools, which are nearly all that a server is asked: written to the transport and matched with their answers
 * here. The official client, which has the rest of the connection, takes several times as much of a processor for each.
 */
export class ToolRequests {
  readonly #transport: Transport
  readonly #meta: Members
  readonly #closesStreams: boolean
  readonly #waiting = new Map<number, Waiting>()
  #nextId = firstId
  #isOver = false

  /** After the official client has connected. `sender` is null in the versions that open with a handshake. */
  constructor(transport: Transport, sender: Sender | null) {
    this.#transport = transport
    this.#meta = sender
      ? {
          [PROTOCOL_VERSION_META_KEY]: sender.version,
          [CLIENT_INFO_META_KEY]: sender.info,
          [CLIENT_CAPABILITIES_META_KEY]: sender.capabilities,
        }
      : {}
    this.#closesStreams = sender !== null && transport.hasPerRequestStream === true
    const others = transport.onmessage
    transport.onmessage = (message, extra) => {
      if (!this.#takes(message)) others?.(message, extra)
    }
  }

  /** Result as the server sent it. Raises `ProtocolError` for its error, `SdkError`, and what the signal aborts with. */
  async call(request: ToolRequest): Promise<Members> {
    const { signal, params, headers } = request
    signal.throwIfAborted()
    if (this.#isOver) throw closed()
    const id = this.#nextId++
    const stream = this.#closesStreams ? new AbortController() : null
    const waiting = new Waiting(request, (cause) => {
      this.#waiting.delete(id)
      if (stream) stream.abort()
      else this.#cancel(id)
      waiting.fail(cause)
    })
    this.#waiting.set(id, waiting)
    const _meta = { ...this.#meta, ...(params['_meta'] as Members | undefined), progressToken: id }
    const message = { jsonrpc: '2.0', id, method: 'tools/call', params: { ...params, _meta } }
    const how = {
      ...(headers ? { headers } : {}),
      ...(stream ? { requestSignal: stream.signal } : {}),
    }
    this.#transport.send(message as JSONRPCMessage, how).catch((cause: unknown) => {
      if (this.#waiting.delete(id)) waiting.fail(cause)
    })
    return await waiting.answered
  }

  /** The connection has closed. */
  end(): void {
    this.#isOver = true
    const all = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const waiting of all) waiting.fail(closed())
  }

  #cancel(requestId: number): void {
    const meta = Object.keys(this.#meta).length === 0 ? {} : { _meta: this.#meta }
    const params = { requestId, reason: 'the caller waits no longer', ...meta }
    const message = { jsonrpc: '2.0', method: 'notifications/cancelled', params }
    // A server that can't be told has closed, or closes soon.
    this.#transport.send(message as JSONRPCMessage).catch(() => {})
  }

  /** Whether it is about one of these, also of one that is waited for no longer. */
  #takes(message: JSONRPCMessage): boolean {
    if ('method' in message) {
      if ('id' in message || message.method !== 'notifications/progress') return false
      const params: unknown = message.params
      return isMembers(params) && this.#told(params)
    }
    const id = Number(message.id)
    if (!(id >= firstId)) return false
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    waiting?.take(message as Answer)
    return true
  }

  #told(params: Members): boolean {
    const id = Number(params['progressToken'])
    if (!(id >= firstId)) return false
    this.#waiting.get(id)?.told(params)
    return true
  }
}

const closed = (): SdkError => new SdkError(SdkErrorCode.ConnectionClosed, 'it was closed')
