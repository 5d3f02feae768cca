import { GatehouseError } from '@gatehouse/contract'
import { resultOf } from '../../domain/approvals/outcome.ts'
import { expire } from '../../domain/approvals/transition.ts'
import { parseStored } from '../../domain/parse-stored.ts'
import type { StoredApproval } from '../../ports/approvals.ts'
import type { Tracing } from '../../ports/tracing.ts'
import { actDraft } from '../call/audit-draft.ts'
import { callDraft, recordedAs } from '../call/call.ts'
import { systemOp } from '../call/op.ts'
import { PollLoop } from '../call/poll-loop.ts'
import { traceExecution } from '../gate/trace-calls.ts'
import { announceChange } from './announce-change.ts'
import { tellOriginal } from './approval-edit.ts'
import { requestFacts } from './approval-record.ts'
import { type ExecuteDeps, executeApproval } from './execute-approval.ts'

const batch = 100
/** Among them those of agents whose folders are on a node that does not run now, which nobody else can take. */
const waitingMax = 1_000
const lookAgainMs = 1_000
const closeEveryMs = 5_000
/** From the stop of the service on: longer than a program has that is asked to end. */
const endingMaxMs = 2_000
/** At once: one agent whose programs take their time holds up nobody else. */
const executingMax = 64
const executingOfAgentMax = 8

/**
 * Upkeep of approvals without anybody's call: approved ones run, old ones expire, and what a
 * crash left running is called interrupted and never runs again by itself.
 */
export class ApprovalUpkeep {
  readonly #deps: ExecuteDeps
  /** Both by id, with the agent. */
  readonly #running = new Map<string, { readonly agent: string; readonly ended: Promise<void> }>()
  readonly #line = new Map<string, string>()
  readonly #polling: PollLoop
  #closedMs = 0
  readonly #run: (approvalId: string) => Promise<void>

  constructor(deps: ExecuteDeps & { readonly tracing?: Tracing | undefined }) {
    this.#deps = deps
    const run = (id: string) => executeApproval(deps, id)
    this.#polling = new PollLoop(deps, {
      name: 'looking after approvals',
      everyMs: lookAgainMs,
      follows: ['approvals'],
      look: () => this.#look(),
    })
    this.#run = deps.tracing ? traceExecution(deps.tracing, run) : run
  }

  /** Puts an approved request in line; asking twice is harmless, the claim decides. */
  readonly execute = (approval_id: string): void => {
    // A request that cannot be read now is found by a later look.
    void this.#admit(approval_id).catch((cause: unknown) =>
      this.#deps.log.error({ err: cause, approval_id }, 'an approved call could not be read'),
    )
  }

  async #admit(id: string): Promise<void> {
    if (this.#running.has(id) || this.#line.has(id)) return
    const approval = await this.#deps.storage.approvals.find(id)
    if (!approval || this.#running.has(id)) return
    this.#line.set(id, approval.agent)
    this.#next()
  }

  #next(): void {
    for (const [id, agent] of this.#line) {
      if (this.#running.size >= executingMax || this.#deps.signal.aborted) return
      const own = [...this.#running.values()].filter((other) => other.agent === agent)
      if (own.length >= executingOfAgentMax) continue
      this.#line.delete(id)
      this.#running.set(id, { agent, ended: this.#runNow(id) })
    }
  }

  async #runNow(approval_id: string): Promise<void> {
    try {
      await this.#run(approval_id)
    } catch (cause) {
      // A later look finds what is still waiting: nothing ran, or its outcome is stored.
      this.#deps.log.error({ err: cause, approval_id }, 'an approved call could not be run')
    } finally {
      this.#running.delete(approval_id)
      this.#next()
    }
  }

  /** At start: closes what this node was running when it died, then begins to look after the rest. */
  async start(): Promise<void> {
    await this.interruptRunsOf(this.#deps.node)
    this.#polling.start()
  }

  /** Closes what a node was running that does not run it any more. */
  async interruptRunsOf(node: string): Promise<void> {
    this.#closedMs = this.#deps.clock.now()
    const left = await this.#deps.storage.approvals.listByExecution('running', 10_000)
    for (const approval of left)
      if (approval.exec_id?.startsWith(`${node}:`) && !this.#running.has(approval.id))
        await this.#interrupt(approval)
  }

  /** Resolves when the outcome of every run is stored, or a run does not end in time: the next start calls it interrupted. */
  async stopped(): Promise<void> {
    await this.#polling.stopped()
    const ended = new AbortController()
    await Promise.race([
      Promise.all([...this.#running.values()].map((run) => run.ended)),
      this.#deps.clock.sleep(endingMaxMs, ended.signal),
    ])
    ended.abort()
  }

  async #interrupt(approval: StoredApproval): Promise<void> {
    const deps = this.#deps
    const next: StoredApproval = { ...approval, execution: 'interrupted' }
    const failure = resultOf(next)
    const changed = await deps.auditLog.transaction(async (tx) => {
      const replaced = await tx.approvals.replace(approval, { ...next, result: failure })
      if (!replaced.changed) return []
      const op = {
        actor: { kind: 'agent', name: approval.agent, credential: 0 },
        request_id: approval.request_id,
        session_id: approval.session_id,
        signal: deps.signal,
      } as const
      tx.append(
        callDraft(
          op,
          recordedAs(deps.registry, approval.capability),
          parseStored(approval.arguments_json, 'approvals.arguments_json'),
          {
            result: 'error',
            policy_decision: 'approval_required',
            rule: approval.rule,
            error: failure?.success === false ? failure.error : null,
            approval_id: approval.id,
            intent_id: approval.exec_id?.split(':')[1] ?? null,
          },
        ),
      )
      return [replaced.approval, await tellOriginal(tx, replaced.approval)]
    })
    for (const one of changed) if (one) announceChange(deps, one)
  }

  async #look(): Promise<void> {
    try {
      await this.#expire()
      const waiting = await this.#deps.storage.approvals.listByExecution('waiting', waitingMax)
      for (const { id } of waiting) this.execute(id)
      // A claim whose commit was lost with its connection: it stands, and nothing ran.
      if (this.#deps.clock.now() - this.#closedMs >= closeEveryMs)
        await this.interruptRunsOf(this.#deps.node)
    } catch (cause) {
      if (!(cause instanceof GatehouseError)) throw cause
    }
  }

  async #expire(): Promise<void> {
    const deps = this.#deps
    const moment = { nowMs: deps.clock.now(), wallMs: deps.clock.wall() }
    const expired = await deps.storage.approvals.listExpired(moment.nowMs, moment.wallMs, batch)
    for (const approval of expired) {
      const { changed, approval: next } = await deps.auditLog.transaction(async (tx) => {
        const replaced = await tx.approvals.replace(approval, expire(approval, moment))
        if (replaced.changed)
          tx.append(
            actDraft(systemOp(deps), 'approval.expired', {
              agent: approval.agent,
              arguments: requestFacts(approval),
              approval_id: approval.id,
              result: 'rejected',
            }),
          )
        return replaced
      })
      if (changed) announceChange(deps, next)
    }
  }
}
