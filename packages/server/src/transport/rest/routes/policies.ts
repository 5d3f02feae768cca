import {
  PolicyTrial,
  PolicyVerdict,
  PolicyView,
  SavedPolicy,
  SavePolicy,
  TryPolicy,
  ValidatePolicy,
} from '@gatehouse/contract'
import { z } from 'zod'
import type { App } from '../../../app/app.ts'
import type { Op } from '../../../app/op.ts'
import { type Answer, defineRoute, ok, type Route, refused } from '../define.ts'
import { pathName } from '../fields.ts'

const show = defineRoute({
  method: 'GET',
  path: '/api/policies',
  operationId: 'showPolicies',
  summary: 'The policy files, the version in force and what is wrong with the files',
  permission: 'read',
  response: PolicyView,
  errors: [],
  async handle(op, app) {
    const { testsPassed, ...view } = await app.showPolicy(op)
    return ok({ ...view, tests_passed: testsPassed })
  },
})

const validate = defineRoute({
  method: 'POST',
  path: '/api/policies/validate',
  operationId: 'validatePolicy',
  summary: 'Check a policy file, its tests included, without saving it',
  permission: 'read',
  body: ValidatePolicy,
  response: PolicyVerdict,
  errors: ['AgentNotFound'],
  async handle(op, app, { body: { text, agent, file } }) {
    const standsAt = agent === undefined ? 'organisation.yaml' : `agents/${agent}.yaml`
    const { problems, rules, testsPassed } = await app.validatePolicy(op, {
      text,
      file: file ?? standsAt,
      ...(agent === undefined ? {} : { agent }),
    })
    const valid = problems.every(({ severity }) => severity !== 'error')
    return ok({ valid, problems, rules, tests_passed: testsPassed })
  },
})

const trial = defineRoute({
  method: 'POST',
  path: '/api/policies/test',
  operationId: 'testPolicy',
  summary: 'What would be decided on a call, and every rule that was looked at',
  permission: 'read',
  body: TryPolicy,
  response: PolicyTrial,
  errors: ['AgentNotFound', 'UnknownCapability'],
  async handle(op, app, { body: { at, ...call } }) {
    return ok(await app.testPolicy(op, { ...call, ...(at === undefined ? {} : { at }) }))
  },
})

/** A file with an error is not saved, and each error comes back with its place. */
async function save(
  op: Op,
  app: App,
  input: { text: string; agent?: string },
): Promise<Answer<SavedPolicy>> {
  const saved = await app.savePolicy(op, input)
  const errors = saved.problems.filter(({ severity }) => severity === 'error')
  const [first] = errors
  const { version, previous } = saved
  if (!first) return ok({ version, problems: [...saved.problems], previous })
  const { file, line, column, message } = first
  return refused(
    'PolicyInvalid',
    { file, line, column, detail: message },
    errors.map((at) => ({ pointer: '/text', detail: `${at.line}:${at.column}: ${at.message}` })),
  )
}

const saveOrganisation = defineRoute({
  method: 'PUT',
  path: '/api/policies/organisation',
  operationId: 'saveOrganisationPolicy',
  summary: 'Replace the policy of the organisation',
  permission: 'policies.manage',
  body: SavePolicy,
  response: SavedPolicy,
  errors: ['PolicyInvalid'],
  handle: (op, app, { body: { text } }) => save(op, app, { text }),
})

const saveAgent = defineRoute({
  method: 'PUT',
  path: '/api/policies/agents/:name',
  operationId: 'saveAgentPolicy',
  summary: 'Replace the policy of one agent',
  permission: 'policies.manage',
  params: z.object({ name: pathName }),
  body: SavePolicy,
  response: SavedPolicy,
  errors: ['PolicyInvalid', 'AgentNotFound'],
  handle: (op, app, { params: { name }, body: { text } }) => save(op, app, { text, agent: name }),
})

export const policyRoutes: readonly Route[] = [show, validate, trial, saveOrganisation, saveAgent]
