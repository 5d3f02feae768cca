import { agentFields, agentOptions, limitText, warningLines } from '../agent-options.ts'
import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'

export const agentEdit = defineCommand({
  name: 'agent edit',
  summary: 'Change an agent; each list replaces the present one',
  args: { name: 'the agent' },
  options: {
    ...agentOptions,
    'if-version': { value: 'N', integer: true, about: 'only if it still has this version' },
  },
  examples: [
    'gatehouse agent edit mailbot --tools "filesystem.*,email.search"',
    'gatehouse agent edit mailbot --tools "*"',
    'gatehouse agent edit mailbot --limits "email.send=5/1m"',
    'gatehouse agent edit coder --mount /srv/app:rw --purpose "Looks after the app"',
  ],
  run({ api }, { name, 'if-version': version, ...given }) {
    const fields = agentFields(given)
    if (Object.keys(fields).length === 0)
      throw usageError('Say what changes: --purpose, --approvals, --mount, --tools or --limits.')
    return api.editAgent({
      name,
      ...fields,
      ...(version === undefined ? {} : { if_match: version }),
    })
  },
  text: (edited) => {
    const { name, tools, limits } = edited.agent
    return [
      `Agent ${name} is changed. Tools: ${escapeText(tools.join(', ')) || 'all'}`,
      ...(limits.length > 0 ? [`Its own limits: ${limits.map(limitText).join(', ')}`] : []),
      ...warningLines(edited),
    ].join('\n')
  },
})
