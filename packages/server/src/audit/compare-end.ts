import type { LogState } from '../domain/audit/chain.ts'
import type { AuditRows } from '../ports/audit-rows.ts'
import type { Alarm } from './mark.ts'
import { cutOff } from './verify-chain.ts'

/**
 * Compares the end of what is stored with a sealed state. A shorter log leaves the state as it is, so that no
 * `seq` is ever used twice and the tree stays consistent with every checkpoint. Rows behind the state are no
 * matter of this: nothing takes them in.
 */
export const compareEnd = async (
  rows: Pick<AuditRows, 'range' | 'head'>,
  chain: string,
  { size, head }: LogState,
): Promise<Alarm | null> => {
  if (size === 0) return null
  const last = await rows.head(chain)
  const stored = last ? last.seq + 1 : 0
  if (stored < size) return cutOff(rows, chain, stored, size)
  const [end] = await rows.range(chain, size - 1, size, 1)
  if (end?.hash === head) return null
  return {
    kind: 'modified',
    seq: size - 1,
    id: end?.id ?? last?.id ?? null,
    detail: 'the log does not hold the entry that the high-water mark was made over',
  }
}
