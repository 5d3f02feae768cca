import { GatehouseError } from '@gatehouse/contract'
import { resultBytesMax } from '../../domain/result-bytes.ts'
import type { Basics } from './basics.ts'
import type { MemoryBudget, Patience } from './memory-budget.ts'
import type { AgentOp } from './op.ts'

type Deps = Pick<Basics, 'clock'> & { readonly memory: MemoryBudget }

/**
 * The answer of a method that is no capability, so that the gate reserves nothing for it. `read` calls
 * `takeRoom` before it has an answer; `bytesOf` says about how much memory that takes.
 */
export async function readInRoom<T>(
  op: AgentOp,
  { clock, memory }: Deps,
  bytesOf: (answer: T) => number,
  read: (takeRoom: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const patience = (): Patience => ({ signal: op.signal, clock })
  const held = op.held ?? memory.hold(op.actor.name, 0)
  try {
    using room = await held.room(0, patience)
    const answer = await read(() => room.grow(resultBytesMax, patience))
    room.made(bytesOf(answer))
    return answer
  } catch (cause) {
    if (op.signal.aborted && cause === op.signal.reason)
      throw new GatehouseError('Cancelled', {}, { cause })
    throw cause
  } finally {
    if (!op.held) held.release()
  }
}
