import { type ApprovalOutcome, GatehouseError } from '@gatehouse/contract'
import { resultBytesMax } from '../domain/result-bytes.ts'
import type { Basics } from './deps.ts'
import { memoryOf } from './invoke-run.ts'
import type { MemoryBudget, Patience } from './memory-budget.ts'
import type { AgentOp } from './op.ts'

type Deps = Pick<Basics, 'clock'> & { readonly memory: MemoryBudget }

/**
 * The outcome of an approval for a method that is no capability, so that the gate reserves nothing for
 * it. `read` calls `takeRoom` before it reads a result.
 */
export async function readOutcome(
  op: AgentOp,
  { clock, memory }: Deps,
  read: (takeRoom: () => Promise<void>) => Promise<ApprovalOutcome>,
): Promise<ApprovalOutcome> {
  const patience = (): Patience => ({ signal: op.signal, clock })
  const held = op.held ?? memory.hold(op.actor.name, 0)
  try {
    using room = await held.room(0, patience)
    const outcome = await read(() => room.grow(resultBytesMax, patience))
    room.made(outcome.result?.success ? memoryOf(outcome.result.data) : 0)
    return outcome
  } catch (cause) {
    if (op.signal.aborted && cause === op.signal.reason)
      throw new GatehouseError('Cancelled', {}, { cause })
    throw cause
  } finally {
    if (!op.held) held.release()
  }
}
