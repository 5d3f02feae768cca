import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'

export const upstreamTiers = defineCommand({
  name: 'upstream tiers',
  summary: 'Suggest policy rules for the tools of a server',
  args: { name: 'the server' },
  options: { suggest: { about: 'from what the server says of its own tools' } },
  examples: ['gatehouse upstream tiers github --suggest > github.yaml'],
  run({ api }, { name, suggest }) {
    if (!suggest) throw usageError('Say where the rules come from: --suggest.')
    return api.suggestUpstreamRules({ name })
  },
  text: ({ policy }) => policy.split('\n').map(escapeText).join('\n').trimEnd(),
})
