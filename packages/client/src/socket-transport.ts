import { openSocket } from '#platform'
import { AuthenticationFailed } from './error-classes.ts'
import { UnexpectedAnswer, Unreachable } from './gatehouse-error.ts'
import type { ClientInfo } from './http-transport.ts'
import { isMembers, type Members, parseJson } from './members.ts'
import { orAborted } from './or-aborted.ts'
import type { Socket, SocketListener } from './platform/socket.ts'
import { readApproval, readPending } from './read-outcome.ts'
import { toFailure, toRpcError } from './to-error.ts'
import type { Answer, Sent, Transport } from './transport.ts'

const protocolVersion = '2025-11-25'
const tokenInvalid = 4401
const reasonKey = 'gatehouse/reason'
const upstreamKey = 'gatehouse/upstream'

type Waiting = { resolve(result: unknown): void; reject(error: Error): void }

/** One socket, and the requests on it that are not answered. */
class Connection implements SocketListener {
  readonly #url: string
  readonly #waiting = new Map<number, Waiting>()
  readonly #ended: () => void
  #socket: Socket | null = null
  #lastId = 0

  constructor(url: string, ended: () => void) {
    this.#url = url
    this.#ended = ended
  }

  async open(token: string, client: ClientInfo): Promise<void> {
    this.#socket = await openSocket(this.#url, token, this)
    const params = { protocolVersion, clientInfo: client, capabilities: {} }
    await this.request('initialize', params).catch((thrown: unknown) => {
      this.close()
      // A connection that breaks before it is open has carried no call.
      throw thrown instanceof Unreachable
        ? new Unreachable(thrown.message, { sent: false, cause: thrown })
        : thrown
    })
    this.#send({ method: 'notifications/initialized' })
  }

  /** An aborted request is taken back: nobody reads its answer any more. */
  async request(method: string, params: object, signal?: AbortSignal): Promise<unknown> {
    this.#lastId += 1
    const id = this.#lastId
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
    })
    if (!this.#send({ id, method, params })) {
      this.#waiting.delete(id)
      throw new Unreachable(`The connection to ${this.#url} has ended.`, { sent: false })
    }
    if (!signal) return answer
    try {
      return await orAborted(answer, signal)
    } finally {
      if (this.#waiting.delete(id))
        this.#send({ method: 'notifications/cancelled', params: { requestId: id } })
    }
  }

  close(): void {
    this.#socket?.close()
  }

  text(text: string): void {
    const message = parseJson(text)
    // A message with a method is a request of the gate, whose ids are its own.
    if (!isMembers(message) || 'method' in message || typeof message['id'] !== 'number') return
    const waiting = this.#waiting.get(message['id'])
    if (!waiting) return
    this.#waiting.delete(message['id'])
    if (isMembers(message['error'])) waiting.reject(toRpcError(message['error']))
    else waiting.resolve(message['result'])
  }

  closed(code: number | null): void {
    this.#ended()
    const error =
      code === tokenInvalid
        ? new AuthenticationFailed('AuthenticationFailed', 'The token is no longer valid.')
        : new Unreachable(`The connection to ${this.#url} broke before the answer.`, { sent: true })
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }

  #send(message: object): boolean {
    return this.#socket?.send(JSON.stringify({ jsonrpc: '2.0', ...message })) ?? false
  }
}

const textsOf = ({ content }: Members): string[] =>
  (Array.isArray(content) ? (content as unknown[]) : [])
    .filter(isMembers)
    .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))

/** The answer of `tools/call`. The data of a tool of an upstream server is that server's whole result. */
const readTool = (result: unknown): Answer => {
  if (!isMembers(result)) throw new UnexpectedAnswer('The answer is no result of a tool.')
  const texts = textsOf(result)
  if (result['isError'] === true) {
    const error = parseJson(texts[0] ?? '')
    throw isMembers(error)
      ? toFailure(error)
      : new UnexpectedAnswer('A tool failed without saying why.')
  }
  if (isMembers(result['_meta']) && upstreamKey in result['_meta'])
    return { kind: 'done', data: result, note: null }
  const { structuredContent: data } = result
  return readPending(data) ?? { kind: 'done', data, note: texts[1] ?? null }
}

/** Calls over a WebSocket that speaks MCP. It is opened by the first call, and anew after it has broken. */
export class SocketTransport implements Transport {
  readonly #url: string
  readonly #token: () => Promise<string>
  readonly #client: ClientInfo
  /** The one that is open or about to be; null after it has ended. */
  #connection: Promise<Connection> | null = null

  constructor(url: string, token: () => Promise<string>, client: ClientInfo) {
    this.#url = `${url.replace(/^http/, 'ws')}/mcp`
    this.#token = token
    this.#client = client
  }

  async invoke(
    { capability, arguments: args, reason }: Sent,
    signal: AbortSignal,
  ): Promise<Answer> {
    const connection = await orAborted((this.#connection ??= this.#open()), signal)
    const said = reason === undefined ? {} : { _meta: { [reasonKey]: reason } }
    const params = { name: capability, arguments: args, ...said }
    return readTool(await connection.request('tools/call', params, signal))
  }

  async wait(approvalId: string, seconds: number, signal: AbortSignal): Promise<Answer> {
    const args = { approval_id: approvalId, timeout_seconds: seconds }
    const answer = await this.invoke({ capability: 'approvals.wait', arguments: args }, signal)
    if (answer.kind === 'done' && isMembers(answer.data))
      return readApproval(answer.data, approvalId)
    throw new UnexpectedAnswer('The answer is no approval.')
  }

  async close(): Promise<void> {
    const connection = await this.#connection?.catch(() => null)
    connection?.close()
  }

  #open(): Promise<Connection> {
    const forget = () => {
      if (this.#connection === opening) this.#connection = null
    }
    const opening = this.#openNew(forget).catch((thrown: unknown) => {
      forget()
      throw thrown
    })
    return opening
  }

  async #openNew(ended: () => void): Promise<Connection> {
    const connection = new Connection(this.#url, ended)
    await connection.open(await this.#token(), this.#client)
    return connection
  }
}
