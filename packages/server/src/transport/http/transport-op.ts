import type { AgentOp } from '../../app/op.ts'

const noParts: Cancellation[] = []

/** A way to cancel that costs nothing until someone asks for its signal: most calls never do. */
export class Cancellation {
  #controller: AbortController | null = null
  #aborted = false
  #reason: unknown
  #parts: Cancellation[] = noParts

  /** One that is aborted with this one, and can be aborted without it. */
  part(): Cancellation {
    const part = new Cancellation()
    this.#parts = [...this.#parts, part]
    if (this.#aborted) part.abort(this.#reason)
    return part
  }

  get aborted(): boolean {
    return this.#aborted
  }

  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal
    this.#controller = new AbortController()
    if (this.#aborted) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  abort(reason?: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason
    this.#controller?.abort(reason)
    for (const part of this.#parts) part.abort(reason)
  }
}

/** An agent's operation as a transport makes it. Its signal comes into being when it is looked at. */
export class TransportOp implements AgentOp {
  readonly actor: AgentOp['actor']
  readonly request_id: string
  readonly session_id: string | null
  readonly holds: boolean
  readonly trace?: string
  readonly progress?: NonNullable<AgentOp['progress']>
  readonly #cancellation: Cancellation

  constructor(
    who: { readonly actor: AgentOp['actor']; readonly session_id: string | null },
    request_id: string,
    cancellation: Cancellation,
    open: {
      readonly holds: boolean
      readonly progress?: AgentOp['progress'] | undefined
      readonly trace?: string | undefined
    },
  ) {
    this.actor = who.actor
    this.request_id = request_id
    this.session_id = who.session_id
    this.holds = open.holds
    if (open.progress) this.progress = open.progress
    if (open.trace !== undefined) this.trace = open.trace
    this.#cancellation = cancellation
  }

  get signal(): AbortSignal {
    return this.#cancellation.signal
  }
}

export const atOnce = { holds: false } as const
