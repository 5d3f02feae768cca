import type { PolicyProblem, SavedPolicy } from '@gatehouse/contract'
import type { policyRoutes } from '@gatehouse/contract/routes/policies'
import type { App } from '../../../app/app.ts'
import type { Op } from '../../../app/call/op.ts'
import { type Caller, type Handlers, Refusal, Reply } from '../handler.ts'
import { etagOf } from '../versions.ts'

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

/** A file with an error is not saved, nor is one that somebody else has changed. */
async function save(
  op: Op,
  app: App,
  input: { text: string; agent?: string },
  { versions }: Caller,
): Promise<Reply<SavedPolicy> | Refusal> {
  const saved = await app.savePolicy(op, { ...input, versions })
  const { version, file_version, previous, problems, stale } = saved
  const errors = errorsIn(problems)
  if (errors.length > 0) return refusalOf(errors, '/text')
  if (stale) {
    const file = input.agent === undefined ? 'organisation.yaml' : `agents/${input.agent}.yaml`
    const { files } = await app.showPolicy(op)
    const { text = '', version: now = 'none' } = files.find((one) => one.file === file) ?? {}
    const current = { file, text, version: now }
    return new Refusal('PolicyChanged', { file, version: now }, { current })
  }
  const record = { version, file_version, problems: [...problems], previous }
  return new Reply(record, { headers: { etag: etagOf(file_version) } })
}

export const policyHandlers: Handlers<typeof policyRoutes> = {
  async showPolicies(op, app) {
    const { testsPassed, ...view } = await app.showPolicy(op)
    return { ...view, tests_passed: testsPassed }
  },

  listReadyPolicies: async (op, app) => ({ policies: [...(await app.listReadyPolicies(op))] }),

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

  saveOrganisationPolicy: (op, app, input, caller) => save(op, app, input, caller),
  saveAgentPolicy: (op, app, { name, text }, caller) =>
    save(op, app, { text, agent: name }, caller),
}
