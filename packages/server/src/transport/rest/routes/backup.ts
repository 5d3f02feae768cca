import type { backupRoutes } from '@gatehouse/contract/routes/backup'
import type { Handlers } from '../handler.ts'

export const backupHandlers: Handlers<typeof backupRoutes> = {
  makeBackup(op, app, { passphrase, key, with_workspaces }) {
    const secret =
      key === undefined
        ? ({ kind: 'passphrase', passphrase: passphrase ?? '' } as const)
        : ({ kind: 'key', key: Buffer.from(key, 'hex') } as const)
    return app.makeBackup(op, { secret, withWorkspaces: with_workspaces })
  },
}
