import type { UnlistedEntries } from '@gatehouse/contract'
import type { AuditReader } from '../../ports/audit.ts'

/** Part of an answer about entries of the audit log that it lacks, though they are there. */
export const leftOut = (
  audit: Pick<AuditReader, 'notListed'>,
): { readonly not_listed?: UnlistedEntries[] } => {
  const not_listed = audit.notListed()
  return not_listed.length === 0 ? {} : { not_listed: [...not_listed] }
}
