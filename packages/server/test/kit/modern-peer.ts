import type { Gateway } from '../../src/transport/gateway/open-gateway.ts'
import { EventReader, messagesIn } from './event-reader.ts'
import type { Message } from './mcp-peer.ts'

const version = '2026-07-28'
const tasksExtension = 'io.modelcontextprotocol/tasks'

/** What a client may declare, by the name of the way in which it then learns of a decision. */
export const declares = {
  nothing: {},
  tasks: { extensions: { [tasksExtension]: {} } },
  urls: { elicitation: { url: {} } },
} as const

export type ModernAnswer = Message & {
  readonly status: number
  /** What came on the stream of the answer before it. */
  readonly told: readonly Message[]
}

/** A client of the era without a handshake, byte by byte: nothing that it sends is put right on the way. */
export class ModernPeer {
  readonly #url: string
  readonly #token: string
  readonly #capabilities: object
  readonly #info: object | null
  #ids = 0

  constructor(
    gateway: Pick<Gateway, 'url'>,
    token: string,
    capabilities: object = declares.nothing,
    info: object | null = { name: 'probe', version: '1' },
  ) {
    this.#url = `${gateway.url}/mcp`
    this.#token = token
    this.#capabilities = capabilities
    this.#info = info
  }

  send(
    method: string,
    params: Record<string, unknown>,
    signal?: AbortSignal,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const name = params['name'] ?? params['taskId']
    const body = {
      jsonrpc: '2.0',
      id: ++this.#ids,
      method,
      params: {
        ...params,
        _meta: {
          ...(params['_meta'] as object | undefined),
          'io.modelcontextprotocol/protocolVersion': version,
          'io.modelcontextprotocol/clientCapabilities': this.#capabilities,
          ...(this.#info ? { 'io.modelcontextprotocol/clientInfo': this.#info } : {}),
        },
      },
    }
    return fetch(this.#url, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${this.#token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': version,
        'Mcp-Method': method,
        ...(typeof name === 'string' ? { 'Mcp-Name': name } : {}),
        ...headers,
      },
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    })
  }

  async request(
    method: string,
    params: Record<string, unknown> = {},
    signal?: AbortSignal,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ModernAnswer> {
    const response = await this.send(method, params, signal, headers)
    const text = await response.text()
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
    const messages = isStream ? messagesIn(text) : [JSON.parse(text) as Message]
    const answer = messages.at(-1) ?? {}
    return { ...answer, status: response.status, told: messages.slice(0, -1) }
  }

  call(
    name: string,
    args: object = {},
    extra: Record<string, unknown> = {},
  ): Promise<ModernAnswer> {
    return this.request('tools/call', { name, arguments: args, ...extra })
  }

  async listen(notifications: Record<string, unknown>): Promise<EventReader> {
    const leave = new AbortController()
    const response = await this.send('subscriptions/listen', { notifications }, leave.signal)
    if (!response.body) throw new Error('the answer has no body')
    return new EventReader(response.body, leave)
  }
}
