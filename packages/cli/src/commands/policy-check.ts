import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { hasError, passedText, problemLine } from '../policy-problems.ts'

export const policyCheck = defineCommand({
  name: 'policy check',
  summary: 'Check whether the policy files on disk are active',
  examples: ['gatehouse policy check', 'gatehouse policy check --json'],
  async run({ api }) {
    const { version, problems, rules, tests_passed } = await api.showPolicies()
    return { valid: !hasError(problems), version, problems, rules, tests_passed }
  },
  text: ({ valid, version, problems, ...counts }) =>
    [
      ...problems.map(problemLine),
      ...(valid ? [passedText(counts)] : []),
      valid
        ? `The policy files are active: ${version}`
        : `The files have errors, so the last valid version stays active: ${version}`,
    ].join('\n'),
  exitCode: ({ valid }) => (valid ? exitCodes.done : exitCodes.failed),
})
