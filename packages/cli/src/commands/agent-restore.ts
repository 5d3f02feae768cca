import { defineCommand } from '../define.ts'
import { tokenText, withTokenFile } from '../private-file.ts'

export const agentRestore = defineCommand({
  name: 'agent restore',
  summary: 'Bring a revoked agent back with a new token',
  args: { name: 'the agent' },
  options: {
    'token-file': { value: 'FILE', about: 'put the token into a new file of mode 0600 instead' },
  },
  examples: ['gatehouse agent restore mailbot'],
  run: ({ api }, { name, 'token-file': file }) =>
    withTokenFile(file, () => api.restoreAgent({ name })),
  text: (made) => `${made.agent.name} is active again.\n${tokenText(made)}`,
})
