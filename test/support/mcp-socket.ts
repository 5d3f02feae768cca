import { once } from 'node:events'
import { type ClientOptions, WebSocket } from 'ws'
import { pause, type Run } from './server.ts'

type Told = {
  readonly id: number
  readonly result?: { readonly content: readonly { readonly text: string }[] }
  readonly error?: { readonly message: string }
}

type Waiting = { readonly answers: string[]; readonly done: () => void }

/** An agent that speaks MCP over a WebSocket of its own, and forgets no answer that it is given. */
export class McpSocket implements Disposable {
  readonly #ws: WebSocket
  readonly #calls = new Map<number, Waiting>()
  #next = 1

  private constructor(ws: WebSocket) {
    this.#ws = ws
    ws.on('message', (data: Buffer) => this.#hear(JSON.parse(data.toString()) as Told))
    ws.on('close', () => {
      for (const { done } of this.#calls.values()) done()
    })
  }

  static async open(run: Run, token: string): Promise<McpSocket> {
    const ws = await openSocket(run.mcp_url, token)
    const answered = once(ws, 'message')
    const clientInfo = { name: 'mcp-socket', version: '1.0.0' }
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
    ws.send(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }))
    await answered
    return new McpSocket(ws)
  }

  /**
   * Resolves with the first answer: its text, or the message of its error. The list is empty where the connection
   * ends before, and grows with any further answer under the same id.
   */
  async call(name: string, args: object): Promise<readonly string[]> {
    const id = this.#next
    this.#next += 1
    const answers: string[] = []
    const told = new Promise<void>((done) => this.#calls.set(id, { answers, done }))
    const params = { name, arguments: args }
    this.#ws.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }))
    await told
    return answers
  }

  #hear({ id, result, error }: Told): void {
    const call = this.#calls.get(id)
    if (call === undefined) return
    call.answers.push(result?.content[0]?.text ?? error?.message ?? '')
    call.done()
  }

  /** Without a word to the other side. */
  [Symbol.dispose](): void {
    this.#ws.terminate()
  }
}

/** Opens a WebSocket of an agent. A service that is asked too much at once tells clients to come again. */
export const openSocket = async (
  url: string,
  token: string,
  options: ClientOptions = {},
): Promise<WebSocket> => {
  const headers = { ...options.headers, authorization: `Bearer ${token}` }
  for (;;) {
    const ws = new WebSocket(url, { ...options, headers })
    try {
      await once(ws, 'open')
      return ws
    } catch (cause) {
      if (!(cause instanceof Error) || !cause.message.endsWith(' 503')) throw cause
      await pause(1_000)
    }
  }
}
