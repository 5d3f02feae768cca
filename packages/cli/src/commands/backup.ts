import { readBackupSecret, secretOptions } from '../backup-secret.ts'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { openPrivateFile } from '../private-file.ts'

export const backup = defineCommand({
  name: 'backup',
  summary: 'Back up everything to one encrypted file, whether or not the server runs',
  args: { file: 'a new file of mode 0600' },
  options: {
    ...secretOptions,
    'with-workspaces': { about: 'include the workspaces of the agents' },
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
    const { shared } = await api.listNodes()
    return { file, bytes, with_workspaces, engine, has_database: !shared }
  },
  text: ({ file, bytes, has_database }) =>
    [
      `The backup is in ${escapeText(file)} (${counted(bytes, 'byte')}). It cannot be opened without its key or passphrase.`,
      ...(has_database
        ? []
        : [
            'THE DATABASE IS NOT IN IT: dump it with pg_dump before each backup; all else is in the file.',
          ]),
    ].join('\n'),
})
