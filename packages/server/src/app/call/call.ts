import type { CapabilityError, PolicyDecision, RuleRef } from '@gatehouse/contract'
import type { StoredAgent, StoredSession } from '../../ports/agents.ts'
import type { AuditDraft } from '../../ports/audit.ts'
import type { Capability, CapabilityRegistry } from '../../ports/capability.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CallRoom } from './memory-budget.ts'
import { type AgentOp, actorText } from './op.ts'

/** A call that policy has seen: everything later steps need, and the same object for all of them. */
export type Call = {
  readonly op: AgentOp
  readonly agent: StoredAgent
  readonly session: StoredSession | null
  readonly capability: Capability
  readonly args: Readonly<Record<string, unknown>>
  /** The arguments as they were sent, before the defaults were filled in; never run. */
  readonly sent?: unknown
  readonly rule: RuleRef | null
  readonly reason: string | null
  readonly startedAt: number
  /** Of a call that may run. */
  readonly room?: CallRoom
  /** The hosts that a program it starts may reach, by policy; absent = none. */
  readonly network?: readonly string[]
  /** Whether policy wants each call decided on by itself, whatever was remembered. */
  readonly critical?: true
  /** Whether a person or a standing grant lets it run: then it may do what policy asks a person about. */
  readonly agreed?: boolean
  /** Of an approved call: the places that its path arguments led to when it was approved. */
  readonly places?: Readonly<Record<string, readonly string[]>>
  /** Of an approved call: what it was bound to, as it was found again before the run. */
  readonly resolved?: Readonly<Record<string, unknown>>
  /** Of an approved call: its request, by which a refusal of it is told. */
  readonly approval_id?: string
}

/** A call that may run: there is memory for its result. */
export type RoomyCall = Call & { readonly room: CallRoom }

/**
 * Room for what a call finds at the end of a long wait, during which it takes next to none. Raises
 * `Overloaded`.
 */
export const roomAfterWait = async (
  { room }: Call,
  bytesMax: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> => room?.grow(bytesMax, () => ({ signal, clock }))

type Facts = {
  readonly result: AuditDraft['result']
  readonly policy_decision?: PolicyDecision
  readonly rule?: RuleRef | null
  readonly error?: CapabilityError | null
  readonly approval_id?: string | null
  readonly intent_id?: string | null
  readonly detail?: AuditDraft['detail']
  readonly startedAt?: number
}

/** A capability as the log knows it: its name, and which arguments are kept only as a keyed hash. */
export type Recorded = Pick<Capability, 'name' | 'redact'>

/** Details that are kept beside the call, with the reason that the agent gave. */
const detailOf = ({ agent_reason, tool_use }: AgentOp, { detail }: Facts): AuditDraft['detail'] =>
  agent_reason === undefined && tool_use === undefined
    ? (detail ?? null)
    : {
        ...detail,
        ...(agent_reason === undefined ? {} : { agent_reason }),
        ...(tool_use === undefined ? {} : { tool_use }),
      }

/** The audit entry of a call: also of one that was denied, limited or could not be understood. */
export const callDraft = (
  op: AgentOp,
  capability: Recorded,
  args: Readonly<Record<string, unknown>>,
  facts: Facts,
): AuditDraft => ({
  kind: 'call',
  agent: op.actor.name,
  capability: capability.name,
  arguments: args,
  result: facts.result,
  policy_decision: facts.policy_decision ?? 'none',
  actor: actorText(op.actor),
  session_id: op.session_id,
  request_id: op.request_id,
  rule: facts.rule ?? null,
  duration_ms:
    facts.startedAt === undefined ? null : Math.round(performance.now() - facts.startedAt),
  approval_id: facts.approval_id ?? null,
  intent_id: facts.intent_id ?? null,
  error: facts.error ? { type: facts.error.type, message: facts.error.message } : null,
  detail: detailOf(op, facts),
  redact: capability.redact,
})

/** The capability of that name as the log knows it, also when there is none. */
export const recordedAs = (registry: CapabilityRegistry, name: string): Recorded =>
  registry.find(name) ?? { name, redact: [] }
