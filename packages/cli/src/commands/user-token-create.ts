import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { tokenText, withTokenFile } from '../private-file.ts'

export const userTokenCreate = defineCommand({
  name: 'user-token create',
  summary: 'Create a token for a person or a program and show it once',
  options: {
    label: { value: 'LABEL', about: 'whose it is, as the log names them' },
    role: {
      value: 'ROLE',
      choices: ['operator', 'approver', 'viewer'],
      about: 'what it may do: all; read and decide; read',
    },
    'token-file': { value: 'FILE', about: 'put the token into a new file of mode 0600 instead' },
  },
  examples: [
    'gatehouse user-token create --label phone --role approver',
    'gatehouse user-token create --label ci --role viewer --json',
  ],
  run({ api }, { label, role, 'token-file': file }) {
    if (label === undefined) throw usageError('--label LABEL is missing: say whose token it is.')
    return withTokenFile(file, () =>
      api.createUserToken({ label, ...(role === undefined ? {} : { role }) }),
    )
  },
  text: (made) =>
    `User token ${made.id} for "${escapeText(made.label)}" (${made.role}).\n${tokenText(made)}`,
})
