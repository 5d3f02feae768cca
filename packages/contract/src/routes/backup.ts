import { MakeBackup } from '../backup.ts'
import { defineRoutes } from './define-routes.ts'

export const backupRoutes = defineRoutes({
  makeBackup: {
    method: 'POST',
    path: '/api/backup',
    summary: 'One encrypted file with everything that makes this node, while it serves',
    permission: 'backup.make',
    body: MakeBackup,
    answer: 'bytes',
    errors: ['BackupRefused', 'AuditUnavailable'],
  },
})
