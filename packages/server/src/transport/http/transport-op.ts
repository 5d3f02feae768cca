import type { Hold } from '../../app/call/hold.ts'
import { LazyAbort } from '../../app/call/lazy-abort.ts'
import type { Held } from '../../app/call/memory-budget.ts'
import type { AgentOp } from '../../app/call/op.ts'

const noParts: Cancellation[] = []

/** Cancellation of a request and of the parts that it is answered in. */
export class Cancellation extends LazyAbort {
  #parts: Cancellation[] = noParts

  /** Cancellation that is aborted with this one, and can be aborted without it. */
  part(): Cancellation {
    const part = new Cancellation()
    this.#parts = [...this.#parts, part]
    if (this.aborted) part.abort(this.reason)
    return part
  }

  override abort(reason?: unknown): void {
    if (this.aborted) return
    super.abort(reason)
    for (const part of this.#parts) part.abort(reason)
  }
}

/** Of a notification: it is answered to nobody. */
export const unread = new Cancellation()
unread.abort()

/** Abilities of the carrier of a call while it is open. */
export type OpenFor = {
  readonly hold?: Hold | undefined
  /** Aborted when nobody will read the answer, where that alone cancels nothing. */
  readonly gone?: Cancellation | undefined
  readonly progress?: AgentOp['progress'] | undefined
  readonly waiting?: (() => void) | undefined
  readonly logs?: AgentOp['logs'] | undefined
  readonly trace?: string | undefined
  /** Reason of the agent for the call. */
  readonly agent_reason?: string | undefined
  /** `_meta` of the call. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined
}

/** An agent's operation as a transport makes it. Its signal comes into being when it is looked at. */
export class TransportOp implements AgentOp {
  readonly actor: AgentOp['actor']
  readonly request_id: string
  readonly session_id: string | null
  readonly hold?: Hold
  readonly trace?: string
  readonly agent_reason?: string
  readonly meta?: Readonly<Record<string, unknown>>
  readonly held?: Held
  readonly progress?: NonNullable<AgentOp['progress']>
  readonly waiting?: () => void
  readonly logs?: NonNullable<AgentOp['logs']>
  readonly #cancellation: Cancellation
  readonly #gone: Cancellation | undefined

  constructor(
    who: {
      readonly actor: AgentOp['actor']
      readonly session_id: string | null
      readonly held?: Held | undefined
    },
    request_id: string,
    cancellation: Cancellation,
    open: OpenFor,
  ) {
    this.actor = who.actor
    this.request_id = request_id
    this.session_id = who.session_id
    if (who.held) this.held = who.held
    if (open.hold) this.hold = open.hold
    if (open.waiting) this.waiting = open.waiting
    if (open.progress) this.progress = open.progress
    if (open.logs) this.logs = open.logs
    if (open.trace !== undefined) this.trace = open.trace
    if (open.agent_reason !== undefined) this.agent_reason = open.agent_reason
    if (open.meta) this.meta = open.meta
    this.#cancellation = cancellation
    this.#gone = open.gone
  }

  get signal(): AbortSignal {
    return this.#cancellation.signal
  }

  get gone(): AbortSignal | undefined {
    return this.#gone?.signal
  }
}

/** Answered without waiting for a person. */
export const atOnce: OpenFor = {}
