import type { PolicyProblem, SavedPolicy } from '@gatehouse/contract'
import type { policyRoutes } from '@gatehouse/contract/routes/policies'
import type { App } from '../../../app/app.ts'
import type { Op } from '../../../app/call/op.ts'
import { type Handlers, Refusal } from '../handler.ts'

async function* jsonLines(records: AsyncIterable<object>): AsyncGenerator<string> {
  for await (const record of records) yield JSON.stringify(record)
}

const errorsIn = (problems: readonly PolicyProblem[]): readonly PolicyProblem[] =>
  problems.filter(({ severity }) => severity === 'error')

/** Each error of a text comes back with its place. */
function refusalOf(errors: readonly PolicyProblem[], pointer: string): Refusal {
  const [first] = errors
  return new Refusal(
    'PolicyInvalid',
    { ...first, detail: first?.message },
    {
      errors: errors.map((at) => ({
        pointer,
        detail: `${at.line}:${at.column}: ${at.message}`,
      })),
    },
  )
}

/** A file with an error is not saved. */
async function save(
  op: Op,
  app: App,
  input: { text: string; agent?: string },
): Promise<SavedPolicy | Refusal> {
  const { version, previous, problems } = await app.savePolicy(op, input)
  const errors = errorsIn(problems)
  return errors.length > 0
    ? refusalOf(errors, '/text')
    : { version, problems: [...problems], previous }
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

  async simulatePolicy(op, app, input) {
    const simulated = await app.simulatePolicy(op, input)
    if (simulated.kind === 'refused') return refusalOf(errorsIn(simulated.problems), '/draft/text')
    const { version, problems, results } = simulated
    return { version, problems, results }
  },

  async replayPolicy(op, app, input) {
    const replay = await app.replayPolicy(op, input)
    return replay.kind === 'refused'
      ? refusalOf(errorsIn(replay.problems), '/draft/text')
      : jsonLines(replay.lines)
  },

  saveOrganisationPolicy: (op, app, input) => save(op, app, input),
  saveAgentPolicy: (op, app, { name, text }) => save(op, app, { text, agent: name }),
}
