import { defineCommand } from '../define.ts'
import { tokenText, withTokenFile } from '../private-file.ts'

export const agentRotate = defineCommand({
  name: 'agent rotate',
  summary: 'Give an agent a new token and revoke the old one',
  args: { name: 'the agent' },
  options: {
    overlap: { value: 'SECONDS', integer: true, about: 'how long the old token still works (0)' },
    'token-file': { value: 'FILE', about: 'write the token to this new file, of mode 0600' },
  },
  examples: [
    'gatehouse agent rotate mailbot',
    'gatehouse agent rotate mailbot --overlap 600 --token-file mailbot.token',
  ],
  question: ({ name, overlap }) => (overlap ? null : `End the present token of ${name} now?`),
  run: ({ api }, { name, overlap, 'token-file': file }) =>
    withTokenFile(file, () => api.rotateAgent({ name, overlap_seconds: overlap })),
  text: (made) => `${made.agent.name} has a new token.\n${tokenText(made)}`,
})
