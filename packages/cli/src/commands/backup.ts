import { readBackupSecret, secretOptions } from '../backup-secret.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { openPrivateFile } from '../private-file.ts'

export const backup = defineCommand({
  name: 'backup',
  summary: 'Write one encrypted file with everything, while the server runs or not',
  args: { file: 'a new file of mode 0600' },
  options: {
    ...secretOptions,
    'with-workspaces': { about: 'with the files of the agents, too' },
  },
  examples: [
    'gatehouse backup gatehouse.backup < passphrase.txt',
    'gatehouse backup gatehouse.backup --key-file backup.key --with-workspaces',
  ],
  async run({ api, io }, { file, 'with-workspaces': with_workspaces, ...given }) {
    const secret = await readBackupSecret(io, given)
    const target = await openPrivateFile(file)
    let bytes = 0
    try {
      const reader = (await api.makeBackup({ ...secret, with_workspaces })).getReader()
      for (;;) {
        const { done, value } = await reader.read()
        if (done) break
        bytes += value.length
        await target.write(value)
      }
      await target.finish()
    } catch (error) {
      await target.discard()
      throw error
    }
    const { engine } = (await api.getHealth()).components.storage
    return { file, bytes, with_workspaces, engine }
  },
  text: ({ file, bytes, engine }) =>
    [
      `The backup is in ${escapeText(file)} (${bytes} bytes). Nobody opens it without what it is locked with.`,
      ...(engine === 'postgres'
        ? ['THE DATABASE IS NOT IN IT: back that up with pg_dump now; all else is in the file.']
        : []),
    ].join('\n'),
})
