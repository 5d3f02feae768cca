import type { StoredApproval } from '../../ports/approvals.ts'
import type { Log } from '../../ports/log.ts'

/** Tells, inside this process, that an approval was asked for or changed. */
export class ApprovalSignals {
  readonly #listeners = new Set<(approval: StoredApproval) => void>()
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  emit(approval: StoredApproval): void {
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
