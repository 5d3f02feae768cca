import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'
import { passedText, problemLine } from '../policy-problems.ts'
import { readInputFile } from '../read-input-file.ts'
import { savePolicyFile } from '../save-policy-file.ts'

export const policySet = defineCommand({
  name: 'policy set',
  summary: 'Replace the policy of the organisation or of one agent, if it is valid',
  args: { file: 'the file, or - for the input' },
  options: {
    agent: { value: 'NAME', about: 'the policy of this agent' },
    'if-version': { value: 'VERSION', about: 'only where the file still has this version' },
    'dry-run': { about: 'check the file without saving it' },
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
  async run({ api, dataDir, next }, { agent, 'dry-run': dryRun, ...more }, text) {
    const of = agent === undefined ? {} : { agent }
    if (dryRun) return { saved: false, undo: null, ...(await api.validatePolicy({ text, ...of })) }
    const version = more['if-version']
    return savePolicyFile({ api, dataDir, next }, { text, agent, version })
  },
  text: ({ saved, valid, problems, undo, ...rest }) => {
    const passed = 'rules' in rest ? passedText(rest) : ''
    const checked = valid ? `The file is valid: ${passed}` : 'The file has errors.'
    return [
      ...problems.map(problemLine),
      saved ? 'The policy is saved and active.' : checked,
      ...(undo === null ? [] : [escapeText(`Undo: ${undo}`)]),
    ].join('\n')
  },
  exitCode: ({ valid }) => (valid ? exitCodes.done : exitCodes.failed),
})
