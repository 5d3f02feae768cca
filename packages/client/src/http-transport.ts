import { GatehouseError, UnexpectedAnswer, Unreachable } from './gatehouse-error.ts'
import { isMembers } from './members.ts'
import { orAborted } from './or-aborted.ts'
import { readApproval, readPending, readResult } from './read-outcome.ts'
import type { Rpc } from './rpc.ts'
import type { Answer, Sent, Transport } from './transport.ts'

const approvalRequired = -32002
const openingMs = 15_000
const farewellMs = 2_000

export type ClientInfo = { readonly name: string; readonly version: string }

/** Calls over `POST /rpc`, in a session that begins with the first of them. */
export class HttpTransport implements Transport {
  readonly #rpc: Rpc
  readonly #client: ClientInfo
  #session: Promise<string> | null = null

  constructor(rpc: Rpc, client: ClientInfo) {
    this.#rpc = rpc
    this.#client = client
  }

  async invoke(
    { capability, arguments: args, reason }: Sent,
    signal: AbortSignal,
  ): Promise<Answer> {
    const said = reason === undefined ? {} : { reason }
    const params = { capability, arguments: args, ...said }
    try {
      return readResult(await this.#inSession('capabilities.invoke', params, signal))
    } catch (thrown) {
      if (!(thrown instanceof GatehouseError) || thrown.code !== approvalRequired) throw thrown
      const pending = readPending(thrown.data)
      if (pending) return pending
      throw new UnexpectedAnswer('A call waits for a person, and its request has no id.')
    }
  }

  async wait(approvalId: string, seconds: number, signal: AbortSignal): Promise<Answer> {
    const params = { approval_id: approvalId, timeout_seconds: seconds }
    const outcome = await this.#inSession('approvals.wait', params, signal)
    if (!isMembers(outcome)) throw new UnexpectedAnswer('The answer is no approval.')
    return readApproval(outcome, approvalId)
  }

  async close(): Promise<void> {
    const session = await this.#session?.catch(() => null)
    this.#session = null
    if (!session) return
    const signal = AbortSignal.timeout(farewellMs)
    // The service ends it by itself after half an hour.
    await this.#rpc.request('session.end', {}, signal, session).catch(() => undefined)
  }

  /**
   * A session that was idle for too long, or that a restart ended, is begun anew: the service looks for it
   * before anything else, so nothing has run.
   */
  async #inSession(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    const opened = this.#session ?? this.#open()
    try {
      const session = await orAborted(opened, signal)
      return await this.#rpc.request(method, params, signal, session)
    } catch (thrown) {
      if (!(thrown instanceof GatehouseError) || thrown.type !== 'SessionNotFound') throw thrown
      // Of several calls that find it gone, the first begins the next one.
      if (this.#session === opened) this.#session = null
      const session = await orAborted(this.#session ?? this.#open(), signal)
      return await this.#rpc.request(method, params, signal, session)
    }
  }

  #open(): Promise<string> {
    const opening = this.#create().catch((thrown: unknown) => {
      if (this.#session === opening) this.#session = null
      throw thrown
    })
    this.#session = opening
    return opening
  }

  async #create(): Promise<string> {
    const signal = AbortSignal.timeout(openingMs)
    const asked = this.#rpc.request('session.create', { client: this.#client }, signal)
    const session = await asked.catch((thrown: unknown) => {
      if (thrown instanceof GatehouseError && !(thrown instanceof Unreachable)) throw thrown
      // The call that a session is for was not sent, whatever became of the session.
      throw new Unreachable(thrown instanceof Error ? thrown.message : 'No session was opened.', {
        sent: false,
        cause: thrown,
      })
    })
    if (isMembers(session) && typeof session['session_id'] === 'string')
      return session['session_id']
    throw new UnexpectedAnswer('The answer is no session.')
  }
}
