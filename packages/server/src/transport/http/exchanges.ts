import { GatehouseError } from '@gatehouse/contract'
import type { App } from '../../app/app.ts'
import type { AgentOp } from '../../app/call/op.ts'
import type { HttpResponse } from './http-response.ts'
import { Cancellation } from './transport-op.ts'

/**
 * Meaning of a peer that goes away before its answer: nothing (it may ask again in its session),
 * that nobody waits any more, or that it takes the call back.
 */
export type Leaving = 'ignored' | 'unwanted' | 'cancelled'

export class Exchange extends Cancellation {
  readonly actor: AgentOp['actor']
  /** Aborted when the peer has gone away before its answer, whatever that means. */
  readonly gone = new Cancellation()

  constructor(actor: AgentOp['actor']) {
    super()
    this.actor = actor
  }
}

/** The requests that are being answered, so that they can be cancelled and waited for. */
export class Exchanges {
  readonly #app: App
  readonly #open = new Set<Exchange>()

  constructor(app: App) {
    this.#app = app
  }

  /** Until the response is closed. */
  begin(res: HttpResponse, actor: AgentOp['actor'], leaving: Leaving): Exchange {
    const exchange = new Exchange(actor)
    this.#open.add(exchange)
    const closed = (): void => {
      this.#open.delete(exchange)
      if (res.writableFinished) return
      exchange.gone.abort()
      if (leaving === 'ignored') return
      exchange.abort(leaving === 'cancelled' ? new GatehouseError('Cancelled') : undefined)
    }
    // The response may have closed while its body was parsed.
    if (res.destroyed) closed()
    else res.on('close', closed)
    return exchange
  }

  /** @SECURITY Calls of a revoked agent are cancelled too, not only refused next time; streamable.test.ts. */
  sweep(): void {
    for (const exchange of this.#open) {
      const { name, credential } = exchange.actor
      if (!this.#app.stillValid(name, credential)) exchange.abort()
    }
  }

  abort(): void {
    for (const exchange of this.#open) exchange.abort()
  }
}
