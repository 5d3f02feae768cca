import { defineCommand } from '../define.ts'
import { exitCodes } from '../exit-codes.ts'
import { hasError, problemLine } from '../policy-problems.ts'

export const policyCheck = defineCommand({
  name: 'policy check',
  summary: 'Check whether the policy files on disk are active',
  examples: ['gatehouse policy check', 'gatehouse policy check --json'],
  async run({ api }) {
    const { version, problems } = await api.showPolicies()
    return { valid: !hasError(problems), version, problems }
  },
  text: ({ valid, version, problems }) =>
    [
      ...problems.map(problemLine),
      valid
        ? `The policy files are active: ${version}`
        : `The files have errors, so the last valid version stays active: ${version}`,
    ].join('\n'),
  exitCode: ({ valid }) => (valid ? exitCodes.done : exitCodes.failed),
})
