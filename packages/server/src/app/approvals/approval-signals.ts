import type { StoredApproval } from '../../ports/approvals.ts'
import type { Gates } from '../../ports/gates.ts'
import type { Log } from '../../ports/log.ts'

/** Tells, on this node, that an approval was asked for or changed. */
export class ApprovalSignals {
  readonly #listeners = new Set<(approval: StoredApproval) => void>()
  readonly #log: Log
  readonly #gates: Gates | null

  constructor({ log, gates }: { readonly log: Log; readonly gates: Gates | null }) {
    this.#log = log
    this.#gates = gates
    gates?.onNews('approval', ({ approval }) => this.#deliver(approval))
  }

  emit(approval: StoredApproval): void {
    this.#deliver(approval)
    this.#gates?.tell({ kind: 'approval', approval })
  }

  #deliver(approval: StoredApproval): void {
    for (const listener of this.#listeners) {
      try {
        listener(approval)
      } catch (cause) {
        this.#log.error({ err: cause, approval_id: approval.id }, 'an approval listener failed')
      }
    }
  }

  on(listener: (approval: StoredApproval) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }
}
