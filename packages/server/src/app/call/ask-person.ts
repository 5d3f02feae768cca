import type { StoredApproval } from '../../ports/approvals.ts'
import type { LimitStamp } from '../../ports/limits.ts'
import type { Call } from './call.ts'
import type { Hold } from './hold.ts'
import type { InvokeOutcome } from './invoke.ts'
import type { Held } from './memory-budget.ts'

/** A call that stays open until a person has decided, in no other call's place. */
export type HeldCall = {
  readonly kind: 'held'
  readonly call: Call
  readonly hold: Hold
  readonly approval: StoredApproval
}

/** Port of the gate for decisions that policy leaves to a person. */
export interface AskPerson {
  /** Must store the request, or join the one that an identical call has made already. */
  request(call: Call, stamps: readonly LimitStamp[]): Promise<InvokeOutcome | HeldCall>
  /** Must keep the call open until the request is resolved or nobody waits any more. */
  hold(held: HeldCall, memory: Held): Promise<InvokeOutcome>
}
