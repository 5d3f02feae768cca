import { MakeBackup } from '@gatehouse/contract'
import { defineRoute, type Route } from '../define.ts'

const make = defineRoute({
  method: 'POST',
  path: '/api/backup',
  operationId: 'makeBackup',
  summary: 'One encrypted file with everything that makes this node, while it serves',
  permission: 'backup.make',
  body: MakeBackup,
  response: 'bytes',
  errors: ['BackupRefused', 'AuditUnavailable'],
  async handle(op, app, { body: { passphrase, key, with_workspaces } }) {
    const secret =
      key === undefined
        ? ({ kind: 'passphrase', passphrase: passphrase ?? '' } as const)
        : ({ kind: 'key', key: Buffer.from(key, 'hex') } as const)
    const bytes = await app.makeBackup(op, { secret, withWorkspaces: with_workspaces })
    return { kind: 'bytes', bytes }
  },
})

export const backupRoutes: readonly Route[] = [make]
