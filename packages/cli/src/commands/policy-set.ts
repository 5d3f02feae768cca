import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { problemLine } from '../policy-problems.ts'
import { readInputFile } from '../read-input-file.ts'

export const policySet = defineCommand({
  name: 'policy set',
  summary: "Replace the organisation's policy, or that of one agent, if it holds",
  args: { file: 'the file, or - for the input' },
  options: {
    agent: { value: 'NAME', about: 'the policy of this agent' },
    'dry-run': { about: 'check it and save nothing' },
  },
  examples: [
    'gatehouse policy set organisation.yaml --dry-run',
    'gatehouse policy set mailbot.yaml --agent mailbot',
  ],
  look: ({ io }, { file }) => readInputFile(file, io),
  // Where the input was the policy, nobody can answer on it.
  question: ({ file, agent, 'dry-run': dryRun }) =>
    dryRun || file === '-' ? null : `Replace the policy of ${agent ?? 'the organisation'}?`,
  goesOnUnasked: true,
  async run({ api }, { agent, 'dry-run': dryRun }, text) {
    const of = agent === undefined ? {} : { agent }
    if (dryRun) return { saved: false, ...(await api.validatePolicy({ text, ...of })) }
    const saved =
      agent === undefined
        ? await api.saveOrganisationPolicy({ text })
        : await api.saveAgentPolicy({ name: agent, text })
    return { saved: true, valid: true, ...saved }
  },
  text: (done) =>
    [
      ...done.problems.map(problemLine),
      done.saved ? 'Saved and in force.' : done.valid ? 'It holds.' : 'It has errors.',
    ].join('\n'),
  exitCode: ({ valid }) => (valid ? exitCodes.done : exitCodes.failed),
})
