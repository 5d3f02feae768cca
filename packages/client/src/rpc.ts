import { UnexpectedAnswer, Unreachable } from './gatehouse-error.ts'
import { isMembers, parseJson } from './members.ts'
import { toRpcError } from './to-error.ts'

export type FetchInit = {
  readonly method: 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The gate redirects nobody: who does could have the call made twice, or elsewhere. */
  readonly redirect: 'error'
  readonly signal: AbortSignal
}

/** As the global `fetch`, of which only this much is used. */
export type Fetch = (
  url: string,
  init: FetchInit,
) => Promise<{ readonly status: number; text(): Promise<string> }>

/**
 * Whether no connection came about. The system call tells, not the code: a connection that was open can end
 * with `EHOSTUNREACH`, too.
 */
const isUnconnected = (cause: unknown): boolean => {
  if (cause instanceof AggregateError)
    return cause.errors.length > 0 && cause.errors.every(isUnconnected)
  if (!isMembers(cause)) return false
  const { syscall, code } = cause
  return syscall === 'connect' || syscall === 'getaddrinfo' || code === 'UND_ERR_CONNECT_TIMEOUT'
}

/**
 * Whether a failure of `fetch` shows that nothing was sent. What is not known to be unsent counts as sent:
 * browsers never say, and the call may have run.
 */
const isUnsent = (thrown: unknown): boolean =>
  thrown instanceof Error && isUnconnected(thrown.cause)

export type RpcOptions = {
  /** Address of the gateway, without `/rpc`. */
  readonly url: string
  readonly token: () => Promise<string>
  readonly fetch: Fetch
}

/** JSON-RPC over HTTP: one POST a request, and none of them twice. */
export class Rpc {
  readonly #options: RpcOptions
  #lastId = 0

  constructor(options: RpcOptions) {
    this.#options = options
  }

  async request(
    method: string,
    params: object,
    signal: AbortSignal,
    session: string | null = null,
  ): Promise<unknown> {
    const { url, token } = this.#options
    const headers = {
      authorization: `Bearer ${await token()}`,
      'content-type': 'application/json',
      ...(session === null ? {} : { 'gatehouse-session': session }),
    }
    signal.throwIfAborted()
    this.#lastId += 1
    const body = JSON.stringify({ jsonrpc: '2.0', id: this.#lastId, method, params })
    const { status, text } = await this.#post(`${url}/rpc`, {
      method: 'POST',
      headers,
      body,
      redirect: 'error',
      signal,
    })
    const answer = parseJson(text)
    if (!isMembers(answer) || !('result' in answer || isMembers(answer['error'])))
      throw new UnexpectedAnswer(`${url} answered ${status} without an answer of JSON-RPC.`)
    if (isMembers(answer['error'])) throw toRpcError(answer['error'])
    return answer['result']
  }

  async #post(url: string, init: FetchInit): Promise<{ status: number; text: string }> {
    try {
      const response = await this.#options.fetch(url, init)
      return { status: response.status, text: await response.text() }
    } catch (cause) {
      if (init.signal.aborted) throw init.signal.reason
      const { origin } = new URL(url)
      throw isUnsent(cause)
        ? new Unreachable(`There is no Gatehouse at ${origin}.`, { sent: false, cause })
        : new Unreachable(`The connection to ${origin} broke before the answer.`, {
            sent: true,
            cause,
          })
    }
  }
}
