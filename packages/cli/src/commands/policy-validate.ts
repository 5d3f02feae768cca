import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { passedText, problemLine } from '../policy-problems.ts'
import { readInputFile } from '../read-input-file.ts'

export const policyValidate = defineCommand({
  name: 'policy validate',
  summary: 'Check a policy file and run its tests, without saving it',
  args: { file: 'the file, or - for the input' },
  options: { agent: { value: 'NAME', about: 'check it as the file of this agent' } },
  examples: [
    'gatehouse policy validate organisation.yaml',
    'gatehouse policy validate mailbot.yaml --agent mailbot',
  ],
  withoutData: 'temporary',
  async run({ api, io }, { file, agent }) {
    const text = await readInputFile(file, io)
    return api.validatePolicy({ text, file: file === '-' ? undefined : file, agent })
  },
  text: ({ valid, problems, ...counts }) =>
    [
      ...problems.map(problemLine),
      valid ? `The file is valid: ${passedText(counts)}` : 'The file has errors.',
    ].join('\n'),
  exitCode: ({ valid }) => (valid ? exitCodes.done : exitCodes.failed),
})
