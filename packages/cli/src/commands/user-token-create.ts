import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { tokenText, withTokenFile } from '../private-file.ts'

export const userTokenCreate = defineCommand({
  name: 'user-token create',
  summary: 'Create a token for a person or a program and show it once',
  options: {
    label: { value: 'LABEL', about: 'the owner, as named in the audit log' },
    role: {
      value: 'ROLE',
      choices: ['operator', 'approver', 'viewer', 'hook'],
      about:
        "its rights: operator: everything; approver: read and decide; viewer: read; hook: ask for a client's own tools",
    },
    agent: { value: 'NAME', about: 'the agent that a hook asks for' },
    'token-file': { value: 'FILE', about: 'write the token to this new file, of mode 0600' },
  },
  examples: [
    'gatehouse user-token create --label phone --role approver',
    'gatehouse user-token create --label ci --role viewer --json',
    'gatehouse user-token create --label editor --role hook --agent coder --token-file hook.token',
  ],
  withoutData: 'begins',
  run({ api }, { label, role, agent, 'token-file': file }) {
    if (label === undefined) throw usageError('--label LABEL is missing: say whose token it is.')
    return withTokenFile(file, () => api.createUserToken({ label, role, agent }))
  },
  text: (made) =>
    `User token ${made.id} for "${escapeText(made.label)}" (${made.role}).\n${tokenText(made)}`,
})
