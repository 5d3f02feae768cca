import type { AuditCopies } from '../ports/audit-rows.ts'
import type { Checkpoint } from './note.ts'

/** Tells other nodes, which read copies of a log, the newest checkpoint of it where they were told another one. */
export const checkpointTeller = (
  copies: Pick<AuditCopies, 'keepCheckpoint'> | null,
  chain: string,
): ((newest: Checkpoint | undefined) => Promise<void>) => {
  let told = ''
  return async (newest) => {
    if (!copies || !newest || newest.note === told) return
    await copies.keepCheckpoint(chain, newest.note)
    told = newest.note
  }
}
