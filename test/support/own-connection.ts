import http from 'node:http'
import { text } from 'node:stream/consumers'
import { openRequest } from '../../packages/server/src/connections/open-request.ts'
import { type Run, untilTaken } from './server.ts'

type Answer = {
  readonly result?: Record<string, unknown> & { readonly data?: Record<string, unknown> }
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: Record<string, unknown>
  }
}

/** JSON-RPC over one connection that stays open, as an agent has one. */
export class OwnConnection implements Disposable {
  readonly #run: Run
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 })

  constructor(run: Run) {
    this.#run = run
  }

  async rpc(token: string, method: string, params: object = {}): Promise<Answer> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const options = {
      ...{ method: 'POST', agent: this.#agent },
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    }
    // The service closes a connection over which nothing came for a while.
    const request = await openRequest(() => http.request(`${this.#run.gateway_url}/rpc`, options))
    const answered = await new Promise<http.IncomingMessage>((resolve, reject) => {
      request.on('response', resolve).on('error', reject).end(body)
    })
    return JSON.parse(await text(answered)) as Answer
  }

  /** Call that is made again while the service sheds it. */
  invoke(token: string, capability: string, args: object = {}): Promise<Answer> {
    return untilTaken(() => this.rpc(token, 'capabilities.invoke', { capability, arguments: args }))
  }

  [Symbol.dispose](): void {
    this.#agent.destroy()
  }
}
