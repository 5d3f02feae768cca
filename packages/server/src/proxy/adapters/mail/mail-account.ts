import { GatehouseError } from '@gatehouse/contract'
import type { ImapFlow } from 'imapflow'
import type { ServiceConnection } from '../../../ports/service-adapter.ts'
import { describeFailure } from './describe-failure.ts'
import { MailReader } from './mail-reader.ts'
import { type MailTimeouts, openImap } from './open-imap.ts'
import { imapEndpoint, type MailSettings, mailSettings } from './settings.ts'

/** Syncs take long; what people and agents wait for goes over a connection of its own. */
type Lane = 'sync' | 'use'

type LaneState = { client: ImapFlow | null; last: Promise<unknown> }

/** A mailbox as the adapter uses it: two connections, each opened when first needed, beside one that listens. */
export class MailAccount implements AsyncDisposable {
  readonly connection: ServiceConnection
  readonly settings: MailSettings
  readonly timeouts: MailTimeouts
  readonly reader = new MailReader()
  /** When a folder's flags were last compared, where the server counts no changes. */
  readonly flagsComparedMs = new Map<string, number>()
  /** Until the server says that it cannot tell of changes by itself. */
  canListen = true
  /** How the inbox stood when it was last read, as its numbers tell. */
  inboxStood: string | null = null
  readonly #lanes: Record<Lane, LaneState> = {
    sync: { client: null, last: Promise.resolve() },
    use: { client: null, last: Promise.resolve() },
  }

  constructor(connection: ServiceConnection, timeouts: MailTimeouts) {
    this.connection = connection
    this.settings = mailSettings.parse(connection.settings)
    this.timeouts = timeouts
  }

  /**
   * Runs `work` with a connection that nobody else uses meanwhile. What the server does wrong is raised as
   * `ServiceUnavailable`; errors of the gatehouse itself pass as they are.
   */
  async imap<T>(
    lane: Lane,
    signal: AbortSignal,
    work: (client: ImapFlow) => Promise<T>,
  ): Promise<T> {
    const state = this.#lanes[lane]
    const turn = state.last.then(() => this.#run(state, signal, work))
    state.last = turn.catch(() => {})
    return turn
  }

  async #run<T>(
    state: LaneState,
    signal: AbortSignal,
    work: (client: ImapFlow) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted()
    const client = await this.#ready(state, signal)
    const leave = () => client.close()
    signal.addEventListener('abort', leave, { once: true })
    try {
      return await work(client)
    } catch (error) {
      // After a failure nobody knows what the connection is in the middle of.
      state.client = null
      client.close()
      throw this.unavailable(error)
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  async #ready(state: LaneState, signal: AbortSignal): Promise<ImapFlow> {
    const kept = state.client
    state.client = null
    if (kept?.usable && !kept.isClosed) {
      // A server that went away since shows now, and not in the middle of a change.
      const alive = await kept.noop().then(
        () => kept.usable && !kept.isClosed,
        () => false,
      )
      if (alive) {
        state.client = kept
        return kept
      }
      kept.close()
    }
    try {
      state.client = await openImap(this.connection, this.settings, this.timeouts, signal)
      return state.client
    } catch (error) {
      throw this.unavailable(error)
    }
  }

  /** The error as it is shown; what is already in our words stays as it is. */
  unavailable(error: unknown): unknown {
    if (error instanceof GatehouseError) return error
    if (error instanceof Error && error.name === 'AbortError') return error
    const { detail } = describeFailure(error, imapEndpoint(this.settings))
    return new GatehouseError(
      'ServiceUnavailable',
      { service: this.connection.service, detail },
      { cause: error },
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const state of Object.values(this.#lanes)) {
      const { client } = state
      state.client = null
      client?.close()
    }
    this.reader[Symbol.dispose]()
  }
}
