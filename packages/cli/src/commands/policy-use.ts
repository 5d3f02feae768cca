import { didYouMean } from '@gatehouse/contract/nearest'
import { usageError } from '../cli-error.ts'
import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { problemLine } from '../policy-problems.ts'
import { simulationTable } from '../policy-simulation.ts'
import { savePolicyFile } from '../save-policy-file.ts'

export const policyUse = defineCommand({
  name: 'policy use',
  summary: 'Replace the policy of the organisation or of one agent by a ready one',
  args: { name: 'careful, trusted, read-only' },
  options: {
    agent: { value: 'NAME', about: 'the policy of this agent' },
    'dry-run': { about: 'show which tiers would change, without saving anything' },
  },
  examples: [
    'gatehouse policy use careful --dry-run',
    'gatehouse policy use trusted --agent coder',
  ],
  async look({ api }, { name }) {
    const { policies } = await api.listReadyPolicies()
    const found = policies.find((policy) => policy.name === name)
    if (found) return found.text
    const names = policies.map((policy) => policy.name)
    throw usageError(`"${name}" is none of ${names.join(', ')}.${didYouMean(name, names)}`)
  },
  question: ({ name, agent, 'dry-run': dryRun }) =>
    dryRun ? null : `Replace the policy of ${agent ?? 'the organisation'} by ${name}?`,
  goesOnUnasked: true,
  async run({ api, dataDir, next }, { agent, 'dry-run': dryRun }, text) {
    if (!dryRun) return savePolicyFile({ api, dataDir, next }, { text, agent })
    const draft = { text, ...(agent === undefined ? {} : { agent }) }
    const of = agent === undefined ? {} : { agents: [agent] }
    const { problems, results } = await api.simulatePolicy({ draft, ...of })
    const changes = results.filter(({ tier, active_tier }) => tier !== active_tier)
    return { saved: false, problems, changes, text }
  },
  text: (result, view) => {
    const told = result.problems.map(problemLine)
    if ('changes' in result) {
      const { changes } = result
      const table = changes.length > 0 ? [simulationTable(changes, view), ''] : []
      return [...told, ...table, `${counted(changes.length, 'tier')} would change.`].join('\n')
    }
    const undo = result.undo === null ? [] : [escapeText(`Undo: ${result.undo}`)]
    return [...told, 'The policy is saved and active.', ...undo].join('\n')
  },
})
