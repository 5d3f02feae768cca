import { isResolved } from '../../domain/approvals/outcome.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { Basics } from '../call/basics.ts'
import { PollLoop } from '../call/poll-loop.ts'
import type { ApprovalSignals } from './approval-signals.ts'

type Deps = Pick<Basics, 'storage' | 'clock' | 'log'> & {
  readonly signals: ApprovalSignals
  readonly signal: AbortSignal
}

const lookEveryMs = 2_000
const pageMax = 1_000

/** Tells people who watch on this node of requests that another node was asked, decides or runs. */
export class ForeignApprovals {
  readonly #deps: Deps
  readonly #looking: PollLoop
  /** Requests to which something may still happen, in the form in which they were told. */
  readonly #open = new Map<string, string>()
  #watchers = 0

  constructor(deps: Deps) {
    this.#deps = deps
    this.#looking = new PollLoop(deps, {
      name: 'looking for requests of other nodes',
      everyMs: lookEveryMs,
      follows: ['approvals'],
      look: () => this.#look(),
    })
    deps.signals.on((approval) => this.#note(approval))
  }

  start(): void {
    if (this.#deps.storage.isNetworked) this.#looking.start('later')
  }

  stopped(): Promise<void> {
    return this.#looking.stopped()
  }

  /** Looks for them until it is disposed. */
  watch(): Disposable {
    this.#watchers += 1
    return {
      [Symbol.dispose]: () => {
        this.#watchers -= 1
        if (this.#watchers === 0) this.#open.clear()
      },
    }
  }

  #note(approval: StoredApproval): void {
    if (this.#watchers === 0) return
    if (isResolved(approval)) this.#open.delete(approval.id)
    else this.#open.set(approval.id, `${approval.status} ${approval.execution}`)
  }

  async #look(): Promise<void> {
    if (this.#watchers === 0) return
    const { approvals } = this.#deps.storage
    const pending = new Map<string, StoredApproval>()
    for (let offset = 0; ; offset += pageMax) {
      const page = await approvals.list({ status: 'pending', limit: pageMax, offset })
      for (const one of page.approvals) pending.set(one.id, one)
      if (page.approvals.length < pageMax) break
    }
    for (const id of [...this.#open.keys(), ...pending.keys()]) {
      const approval = pending.get(id) ?? (await approvals.find(id))
      const told = this.#open.get(id)
      if (approval && told !== `${approval.status} ${approval.execution}`)
        this.#deps.signals.emit(approval)
    }
  }
}
