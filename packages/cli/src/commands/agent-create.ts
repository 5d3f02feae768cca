import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { tokenText, withTokenFile } from '../private-file.ts'

export const agentCreate = defineCommand({
  name: 'agent create',
  summary: 'Create an agent and show its token once',
  args: { name: 'its name: lowercase letters, digits and -' },
  options: {
    purpose: { value: 'TEXT', about: 'what it is for, shown beside its requests' },
    approvals: {
      value: 'MODE',
      choices: ['pending', 'hold'],
      about: 'answer a held call at once, or keep it open until it is decided',
    },
    mount: { value: 'PATHS', about: 'folders it may read, separated by commas; PATH:rw to write' },
    'token-file': { value: 'FILE', about: 'write the token to this new file, of mode 0600' },
  },
  examples: [
    'gatehouse agent create mailbot --purpose "Answers my mail"',
    'gatehouse agent create coder --mount /srv/app:rw --token-file coder.token',
  ],
  withoutData: 'begins',
  run: ({ api }, { name, purpose, approvals, mount, 'token-file': file }) => {
    const mounts = (mount ?? '').split(',').filter((path) => path !== '')
    return withTokenFile(file, () =>
      api.createAgent({
        name,
        purpose,
        approvals,
        mounts: mounts.map((path) => ({
          path: path.replace(/:r[ow]$/, ''),
          read_only: !path.endsWith(':rw'),
        })),
      }),
    )
  },
  text: (made, { next }) =>
    [
      `Agent ${made.agent.name} is created. Its workspace is ${escapeText(made.agent.workspace)}`,
      tokenText(made),
      `A new one, if it gets lost: ${next(`agent rotate ${made.agent.name}`)}`,
      `The addresses that agents use: ${next('status')}`,
    ].join('\n'),
})
