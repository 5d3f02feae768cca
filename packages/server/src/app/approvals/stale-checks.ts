import type { Approval } from '@gatehouse/contract'
import type { StoredApproval } from '../../ports/approvals.ts'
import { approvalRecord } from './approval-record.ts'
import type { ConsequenceDeps } from './consequences.ts'
import { type ExecuteDeps, prepareExecution } from './execute-approval.ts'

/** A list asks again after this long; whoever shows or decides one asks at once. */
const keptMs = 1_000
const keptMax = 10_000
const atOnce = 8
/** A list does not wait longer for checks that take their time, such as those that ask another machine. */
const listWaitsMs = 2_000

type Deps = ExecuteDeps & ConsequenceDeps
type Known = { readonly atMs: number; readonly stale: string | null }

/**
 * Says of pending requests what would be refused if they were approved now, so that a person sees it
 * before the decision and not after it.
 */
export class StaleChecks {
  readonly #deps: Deps
  readonly #known = new Map<string, Known>()
  readonly #running = new Map<string, Promise<string | null>>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async record(approval: StoredApproval): Promise<Approval> {
    return approvalRecord(this.#deps, approval, await this.#look(approval))
  }

  /** The records in their order; what is not known in time is left out. */
  async records(approvals: readonly StoredApproval[]): Promise<readonly Approval[]> {
    const { clock } = this.#deps
    const rest = approvals.filter((approval) => this.#isDue(approval))
    if (rest.length > 0) {
      const ended = new AbortController()
      const lookInTurn = async () => {
        for (let next = rest.shift(); next && !ended.signal.aborted; next = rest.shift())
          await this.#look(next)
      }
      const all = Promise.all(Array.from({ length: atOnce }, lookInTurn))
      await Promise.race([all, clock.sleep(listWaitsMs, ended.signal)])
      ended.abort()
    }
    return approvals.map((approval) =>
      approvalRecord(this.#deps, approval, this.#known.get(approval.id)?.stale ?? null),
    )
  }

  #isDue({ id, status }: StoredApproval): boolean {
    const known = this.#known.get(id)
    return status === 'pending' && !(known && this.#deps.clock.now() - known.atMs < keptMs)
  }

  #look(approval: StoredApproval): Promise<string | null> {
    const { id, status } = approval
    if (status !== 'pending') {
      this.#known.delete(id)
      return Promise.resolve(null)
    }
    const running = this.#running.get(id) ?? this.#ask(approval)
    this.#running.set(id, running)
    return running
  }

  async #ask(approval: StoredApproval): Promise<string | null> {
    const { clock, log } = this.#deps
    const { id } = approval
    try {
      const prepared = await prepareExecution(this.#deps, approval)
      const stale = prepared.kind === 'refused' ? prepared.detail : null
      if (this.#known.size >= keptMax) this.#known.clear()
      this.#known.set(id, { atMs: clock.now(), stale })
      return stale
    } catch (cause) {
      log.warn({ err: cause, approval_id: id }, 'a pending request could not be checked')
      return null
    } finally {
      this.#running.delete(id)
    }
  }
}
