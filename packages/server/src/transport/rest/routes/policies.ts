import type { SavedPolicy } from '@gatehouse/contract'
import type { policyRoutes } from '@gatehouse/contract/routes/policies'
import type { App } from '../../../app/app.ts'
import type { Op } from '../../../app/call/op.ts'
import { type Handlers, Refusal } from '../handler.ts'

/** A file with an error is not saved, and each error comes back with its place. */
async function save(
  op: Op,
  app: App,
  input: { text: string; agent?: string },
): Promise<SavedPolicy | Refusal> {
  const { version, previous, problems } = await app.savePolicy(op, input)
  const errors = problems.filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (!first) return { version, problems: [...problems], previous }
  const { file, line, column, message } = first
  return new Refusal(
    'PolicyInvalid',
    { file, line, column, detail: message },
    {
      errors: errors.map((at) => ({
        pointer: '/text',
        detail: `${at.line}:${at.column}: ${at.message}`,
      })),
    },
  )
}

export const policyHandlers: Handlers<typeof policyRoutes> = {
  async showPolicies(op, app) {
    const { testsPassed, ...view } = await app.showPolicy(op)
    return { ...view, tests_passed: testsPassed }
  },

  async validatePolicy(op, app, input) {
    const { agent } = input
    const file = agent === undefined ? 'organisation.yaml' : `agents/${agent}.yaml`
    const { problems, rules, testsPassed } = await app.validatePolicy(op, { file, ...input })
    const valid = problems.every(({ severity }) => severity !== 'error')
    return { valid, problems, rules, tests_passed: testsPassed }
  },

  testPolicy: (op, app, input) => app.testPolicy(op, input),
  saveOrganisationPolicy: (op, app, input) => save(op, app, input),
  saveAgentPolicy: (op, app, { name, text }) => save(op, app, { text, agent: name }),
}
