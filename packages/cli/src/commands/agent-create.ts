import { agentFields, agentOptions, warningLines } from '../agent-options.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { tokenText, withTokenFile } from '../private-file.ts'

export const agentCreate = defineCommand({
  name: 'agent create',
  summary: 'Create an agent and show its token once',
  args: { name: 'its name: lowercase letters, digits and -' },
  options: {
    ...agentOptions,
    'token-file': { value: 'FILE', about: 'write the token to this new file, of mode 0600' },
  },
  examples: [
    'gatehouse agent create mailbot --purpose "Answers my mail"',
    'gatehouse agent create reader --tools "filesystem.read,filesystem.list"',
    'gatehouse agent create coder --mount /srv/app:rw --token-file coder.token',
  ],
  withoutData: 'begins',
  run: ({ api }, { name, 'token-file': file, ...given }) =>
    withTokenFile(file, () => api.createAgent({ name, ...agentFields(given) })),
  text: (made, { next }) =>
    [
      `Agent ${made.agent.name} is created. Its workspace is ${escapeText(made.agent.workspace)}`,
      ...warningLines(made),
      tokenText(made),
      `A new one, if it gets lost: ${next(`agent rotate ${made.agent.name}`)}`,
      `The addresses that agents use: ${next('status')}`,
    ].join('\n'),
})
