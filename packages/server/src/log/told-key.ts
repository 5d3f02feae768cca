import type { Fault } from '../domain/audit/verify-range.ts'
import type { AuditCopies } from '../ports/audit-rows.ts'
import type { Keys } from './keys.ts'

type Copies = Pick<AuditCopies, 'keys' | 'keepKey'> | null

/** Tells other nodes the key of this log, where they read copies of it and were told none, or another one. */
export const tellKey = async (
  copies: Copies,
  chain: string,
  keys: Pick<Keys, 'pem'>,
): Promise<void> => {
  if (await findForeignKey(copies, chain, keys))
    await copies?.keepKey({ chain, public_key: keys.pem })
}

/** Finding that others are told another key of this log than its own. */
export const findForeignKey = async (
  copies: Copies,
  chain: string,
  { pem }: Pick<Keys, 'pem'>,
): Promise<Fault | null> => {
  if (!copies) return null
  const told = (await copies.keys()).find((one) => one.chain === chain)
  if (told?.public_key === pem) return null
  const detail = 'the database had another key of this log than its own; it was written anew'
  return { kind: 'modified', seq: 0, id: null, detail }
}
