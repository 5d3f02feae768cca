import type { Approval, ApprovalOutcome, DecideOutcome, Grant } from '@gatehouse/contract'
import { cancel } from '../../domain/approvals/transition.ts'
import type { ApprovalFilter, StoredApproval } from '../../ports/approvals.ts'
import type { AgentApprovals } from '../../ports/capability.ts'
import type { Gates } from '../../ports/gates.ts'
import type { Tracing } from '../../ports/tracing.ts'
import type { EndsWithAgent } from '../agents/change-agent.ts'
import type { AskPerson } from '../call/ask-person.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Call } from '../call/call.ts'
import { type AgentOp, actorText, type Op } from '../call/op.ts'
import type { Part } from '../call/part.ts'
import { readInRoom } from '../call/read-in-room.ts'
import { memoryOf } from '../call/result-bytes.ts'
import { approvalsOf } from './agent-approvals.ts'
import { announceChange } from './announce-change.ts'
import { findOwnApproval, getApprovalOutcome, waitApprovalOutcome } from './approval-outcomes.ts'
import { requestFacts } from './approval-record.ts'
import { ApprovalSignals } from './approval-signals.ts'
import { ApprovalUpkeep } from './approval-upkeep.ts'
import { openCallSeal, type SealedCall, sealCall } from './call-seal.ts'
import { cancelApproval } from './cancel-approval.ts'
import { type DecideDeps, type DecideInput, decideApproval } from './decide-approval.ts'
import { type DecideManyInput, decideApprovals } from './decide-approvals.ts'
import { type FollowedApproval, followApproval } from './follow-approval.ts'
import { ForeignApprovals } from './foreign-approvals.ts'
import { type GrantDeps, listGrants, revokedDraft, revokeGrant } from './grants.ts'
import { type HoldDeps, type HoldForDecision, holdCall, holdForDecision } from './hold-call.ts'
import { requestApproval } from './request-approval.ts'
import { listApprovals, showApproval, subscribeApprovals } from './show-approvals.ts'
import { StaleChecks } from './stale-checks.ts'

export type ApprovalDeps = Omit<HoldDeps & DecideDeps & GrantDeps, 'signals' | 'execute'> & {
  readonly tracing?: Tracing | undefined
  /** False without a server: what is approved then runs at its next start. */
  readonly runsApproved: boolean
  readonly gates: Gates | null
}

export interface ApprovalUseCases {
  // An agent's own
  getApprovalOutcome(op: AgentOp, input: { approval_id: string }): Promise<ApprovalOutcome>
  waitApprovalOutcome(
    op: AgentOp,
    input: { approval_id: string; timeout_ms: number },
  ): Promise<ApprovalOutcome>

  /** How the approval stands; `deliver`: the result counts as delivered. */
  followApproval(
    op: AgentOp,
    input: { approval_id: string; deliver: boolean },
  ): Promise<FollowedApproval>
  /** Waits for the decision and the run as a call does that stays open, as long as its `hold` allows. */
  holdForDecision(op: AgentOp, input: HoldForDecision): Promise<void>
  /** Withdraws the request. Raises `ApprovalNotPending` where it was decided before. */
  cancelApproval(op: AgentOp, input: { approval_id: string }): Promise<void>
  /** A text by which a repetition of the call finds its request again, for this agent and an hour. */
  sealCall(op: AgentOp, input: { approval_id: string; call: SealedCall }): Promise<string>
  /** The request that a sealed call names. Raises `InvalidParams` for any seal but that of this call. */
  openCallSeal(op: AgentOp, input: { seal: string; call: SealedCall }): Promise<string>

  // For people
  listApprovals(
    op: Op,
    input: ApprovalFilter,
  ): Promise<{ readonly approvals: readonly Approval[]; readonly total: number }>
  showApproval(op: Op, input: { approval_id: string }): Promise<Approval>
  decideApproval(
    op: Op,
    input: DecideInput,
  ): Promise<{ readonly kind: 'decided' | 'not_pending'; readonly approval: Approval }>
  /** One decision on many, each recorded by itself. */
  decideApprovals(op: Op, input: DecideManyInput): Promise<readonly DecideOutcome[]>
  /** Grants that still let a call run; with `all` also those that ended. */
  listGrants(
    op: Op,
    input: { agent?: string; all: boolean; limit: number; offset: number },
  ): Promise<{ readonly grants: readonly Grant[]; readonly total: number }>
  revokeGrant(op: Op, input: { grant_id: string }): Promise<Grant>
  /** Calls the listener whenever an approval is asked for or changes. */
  subscribeApprovals(listener: (approval: Approval) => void): Disposable
}

export type Approvals = Part<ApprovalUseCases> & {
  /** Port through which the gate asks people. */
  readonly people: AskPerson
  readonly endWithAgent: EndsWithAgent
  /** Closes what a node was running that will not come back. */
  endWithNode(node: string): Promise<void>
  approvalsOf(call: Call): AgentApprovals
}

/** @SECURITY A revoked agent's grants and requests let nothing run any more; approvals.test.ts. */
const withdrawAll =
  (deps: Pick<HoldDeps, 'clock' | 'signals' | 'events'>): EndsWithAgent =>
  async (op, tx, agent) => {
    const by = actorText(op.actor)
    const wallMs = deps.clock.wall()
    for (const grant_id of await tx.grants.revokeAllOf(agent, wallMs, by)) {
      const grant = await tx.grants.find(grant_id)
      if (grant) tx.append(revokedDraft(op, grant))
    }
    const filter = { status: 'pending', agent, limit: 1_000, offset: 0 } as const
    const { approvals } = await tx.approvals.list(filter)
    const withdrawn: StoredApproval[] = []
    for (const current of approvals) {
      const next = cancel(current, { nowMs: deps.clock.now(), wallMs }, by)
      const { changed, approval } = await tx.approvals.replace(current, next)
      if (!changed) continue
      withdrawn.push(approval)
      const facts = { agent, arguments: requestFacts(current), approval_id: current.id }
      tx.append(actDraft(op, 'approval.cancelled', facts))
    }
    return () => {
      for (const approval of withdrawn) announceChange(deps, approval)
    }
  }

/** Requests that wait for a person, decisions, and the runs that follow from them. */
export function bindApprovals(given: ApprovalDeps): Approvals {
  const signals = new ApprovalSignals(given)
  const deps = { ...given, signals }
  const upkeep = new ApprovalUpkeep(deps)
  const foreign = new ForeignApprovals(deps)
  const deciding = { ...deps, execute: deps.runsApproved ? upkeep.execute : () => {} }
  const showing = { ...deps, staleChecks: new StaleChecks(deps) }
  return {
    people: {
      request: (call, stamps) => requestApproval(deps, call, stamps),
      hold: (held, memory) => holdCall(deps, held, memory),
    },
    endWithAgent: withdrawAll(deps),
    endWithNode: (node) => upkeep.interruptRunsOf(node),
    approvalsOf: (call) => approvalsOf(deps, call),
    useCases: {
      getApprovalOutcome: (op, input) =>
        readInRoom(op, deps, memoryOf, async (takeRoom) => {
          await takeRoom()
          return getApprovalOutcome(op, deps, input)
        }),
      waitApprovalOutcome: (op, input) =>
        readInRoom(op, deps, memoryOf, (takeRoom) =>
          waitApprovalOutcome(op, deps, input, takeRoom),
        ),
      followApproval: (op, input) =>
        readInRoom(op, deps, memoryOf, async (takeRoom) => {
          await takeRoom()
          return followApproval(op, deps, input)
        }),
      holdForDecision: async (op, input) =>
        holdForDecision(op, deps, input, await findOwnApproval(op, deps, input.approval_id)),
      cancelApproval: async (op, input) => void (await cancelApproval(op, deps, input)),
      sealCall: async (op, { approval_id, call }) =>
        sealCall(deps, await findOwnApproval(op, deps, approval_id), call),
      openCallSeal: (op, input) => openCallSeal(op, deps, input),
      listApprovals: (_op, input) => listApprovals(showing, input),
      showApproval: (_op, input) => showApproval(showing, input),
      decideApproval: (op, input) => decideApproval(op, deciding, input),
      decideApprovals: (op, input) => decideApprovals(op, deciding, input),
      listGrants: (_op, input) => listGrants(deps, input),
      revokeGrant: (op, input) => revokeGrant(op, deps, input),
      subscribeApprovals(listener) {
        const [watching, subscription] = [foreign.watch(), subscribeApprovals(deps, listener)]
        return {
          [Symbol.dispose]() {
            subscription[Symbol.dispose]()
            watching[Symbol.dispose]()
          },
        }
      },
    },
    async start() {
      await upkeep.start()
      foreign.start()
    },
    async stopped() {
      await Promise.all([upkeep.stopped(), foreign.stopped()])
    },
  }
}
