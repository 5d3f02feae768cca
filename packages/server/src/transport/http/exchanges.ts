import type { ServerResponse } from 'node:http'
import type { App } from '../../app/app.ts'
import type { AgentOp } from '../../app/op.ts'

type Exchange = {
  readonly controller: AbortController
  readonly actor: AgentOp['actor']
  /** A stream that ends only when someone ends it. */
  endless: boolean
}

/** The requests that are being answered, so that they can be cancelled and waited for. */
export class Exchanges {
  readonly #app: App
  readonly #open = new Set<Exchange>()

  constructor(app: App) {
    this.#app = app
  }

  /** Until the response is closed. With `whileConnected` a peer that leaves cancels its request. */
  begin(res: ServerResponse, actor: AgentOp['actor'], whileConnected: boolean): Exchange {
    const exchange = { controller: new AbortController(), actor, endless: false }
    this.#open.add(exchange)
    res.once('close', () => {
      this.#open.delete(exchange)
      if (whileConnected && !res.writableFinished) exchange.controller.abort()
    })
    return exchange
  }

  /** @SECURITY what a revoked agent has in flight is cancelled too, not only refused next time; W10. */
  sweep(): void {
    for (const { controller, actor } of this.#open) {
      if (!this.#app.stillValid(actor.name, actor.credential)) controller.abort()
    }
  }

  endStreams(): void {
    for (const { controller, endless } of this.#open) if (endless) controller.abort()
  }

  abort(): void {
    for (const { controller } of this.#open) controller.abort()
  }
}
