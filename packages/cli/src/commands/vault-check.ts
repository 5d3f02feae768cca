import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'

export const vaultCheck = defineCommand({
  name: 'vault check',
  summary: 'Check whether an agent may use a secret with a capability at a host',
  args: { name: 'the secret' },
  options: {
    agent: { value: 'NAME', about: 'the agent' },
    capability: { value: 'NAME', about: 'the capability' },
    host: { value: 'HOST', about: 'the host it would be sent to; leave out if none' },
  },
  examples: [
    'gatehouse vault check github_token --agent coder --capability network.credentialed_request --host api.github.com',
  ],
  run({ api }, { name, agent, capability, host }) {
    if (agent === undefined || capability === undefined)
      throw usageError('Name an agent with --agent and a capability with --capability.')
    return api.checkSecret({ name, agent, capability, host })
  },
  text: ({ name, agent, allowed, reason }) =>
    `${escapeText(agent)} ${allowed ? 'may' : 'may not'} use ${escapeText(name)} there: ${escapeText(reason)}.`,
  exitCode: ({ allowed }) => (allowed ? exitCodes.done : exitCodes.notAllowed),
})
