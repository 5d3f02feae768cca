import { readBackupSecret, secretOptions } from '../backup-secret.ts'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'
import { shownTimes } from '../times.ts'

const logText = (integrity: string | null, detail: string | null): string => {
  if (integrity === null)
    return 'The database is not in it: restore that with pg_restore before the first start.'
  return integrity === 'verified'
    ? 'The log is verified.'
    : `THE LOG IS NOT VERIFIED: ${escapeText(detail ?? integrity)}`
}

export const restore = defineCommand({
  name: 'restore',
  summary: 'Verify a backup and restore it into a data directory',
  args: { file: 'what `gatehouse backup` wrote' },
  options: secretOptions,
  oneDirectory: true,
  examples: [
    'gatehouse restore gatehouse.backup --data-dir /srv/new --yes < passphrase.txt',
    'gatehouse restore gatehouse.backup --data-dir /srv/new --key-file backup.key --yes',
  ],
  look: ({ places }) => Promise.resolve(places.dirs[0]),
  question: ({ file }, dataDir) => `Restore ${escapeText(file)} into ${escapeText(dataDir)}?`,
  async run({ api, io }, { file, ...given }, dataDir) {
    const secret = await readBackupSecret(io, given)
    const { restoreBackup } = await import('@gatehouse/server/backup/restore')
    const restored = await restoreBackup({
      file,
      target: dataDir,
      secret:
        'key' in secret
          ? { kind: 'key', key: Buffer.from(secret.key, 'hex') }
          : { kind: 'passphrase', passphrase: secret.passphrase },
    })
    // Opened as a server would: what it finds then is what a start would find.
    const { hasDatabase } = await import('@gatehouse/server/platform/is-installed')
    const log = hasDatabase(dataDir) ? await api.verifyAudit() : null
    return {
      data_dir: dataDir,
      ...restored,
      integrity: log?.integrity ?? null,
      detail: log?.detail ?? null,
    }
  },
  text: ({ data_dir, files, made_at, integrity, detail }) =>
    [
      `Restored ${counted(files, 'file')} of the backup of ${shownTimes(made_at)} into ${escapeText(data_dir)}.`,
      logText(integrity, detail),
    ].join('\n'),
  exitCode: ({ integrity }) =>
    integrity === null || integrity === 'verified' ? exitCodes.done : exitCodes.failed,
})
