import { defineCommand } from '../define.ts'
import { tokenText, withTokenFile } from '../private-file.ts'

export const agentRestore = defineCommand({
  name: 'agent restore',
  summary: 'Restore a revoked agent with a new token',
  args: { name: 'the agent' },
  options: {
    'token-file': { value: 'FILE', about: 'write the token to this new file, of mode 0600' },
  },
  examples: ['gatehouse agent restore mailbot'],
  run: ({ api }, { name, 'token-file': file }) =>
    withTokenFile(file, () => api.restoreAgent({ name })),
  text: (made) => `${made.agent.name} is active again.\n${tokenText(made)}`,
})
