import type { BackupSecret, BackupSnapshot, Backups } from '../../ports/backup.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Op } from '../call/op.ts'

export type MakeBackupInput = { readonly secret: BackupSecret; readonly withWorkspaces: boolean }

type Deps = Pick<Basics, 'auditLog'> & { readonly backups: Backups }

/** A backup is on record, with who took it, before its first byte leaves. */
export async function makeBackup(
  op: Op,
  { auditLog, backups }: Deps,
  { secret, withWorkspaces }: MakeBackupInput,
): Promise<AsyncIterable<Uint8Array>> {
  const taken: BackupSnapshot[] = []
  try {
    const snapshot = await auditLog.transaction(async (tx) => {
      tx.append(actDraft(op, 'backup.made', { arguments: { with_workspaces: withWorkspaces } }))
      // An engine may run this again after a conflict.
      taken.pop()?.release()
      const snapshot = backups.snapshot()
      taken.push(snapshot)
      return snapshot
    })
    return snapshot.stream({ secret, withWorkspaces, signal: op.signal })
  } catch (cause) {
    taken.pop()?.release()
    throw cause
  }
}
