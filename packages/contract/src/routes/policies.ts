import {
  PolicySimulation,
  PolicyTrial,
  PolicyVerdict,
  PolicyView,
  ReplayPolicy,
  SavedPolicy,
  SavePolicy,
  SimulatePolicy,
  TryPolicy,
  ValidatePolicy,
} from '../policy.ts'
import { defineRoutes } from './define-routes.ts'

export const policyRoutes = defineRoutes({
  showPolicies: {
    method: 'GET',
    path: '/api/policies',
    summary: 'The policy files, the active version and what is wrong with the files',
    permission: 'read',
    answer: PolicyView,
  },
  validatePolicy: {
    method: 'POST',
    path: '/api/policies/validate',
    summary: 'Check a policy file, its tests included, without saving it',
    permission: 'read',
    body: ValidatePolicy,
    answer: PolicyVerdict,
    errors: ['AgentNotFound'],
  },
  testPolicy: {
    method: 'POST',
    path: '/api/policies/test',
    summary: 'Decision on a call that is not made, and every rule that was looked at',
    permission: 'read',
    body: TryPolicy,
    answer: PolicyTrial,
    errors: ['AgentNotFound', 'UnknownCapability'],
  },
  simulatePolicy: {
    method: 'POST',
    path: '/api/policies/simulate',
    summary:
      'Decisions on calls that are not made, of many agents, by the active policy or a draft',
    permission: 'read',
    body: SimulatePolicy,
    answer: PolicySimulation,
    errors: ['AgentNotFound', 'UnknownCapability', 'InvalidParams', 'PolicyInvalid'],
  },
  replayPolicy: {
    method: 'POST',
    path: '/api/policies/replay',
    summary:
      'What a draft would decide otherwise of the calls in the log: lines of progress, then the result; closing ends it',
    permission: 'read',
    body: ReplayPolicy,
    answer: 'lines',
    errors: ['AgentNotFound', 'PolicyInvalid', 'Conflict'],
  },
  saveOrganisationPolicy: {
    method: 'PUT',
    path: '/api/policies/organisation',
    summary: 'Replace the policy of the organisation',
    permission: 'policies.manage',
    body: SavePolicy,
    answer: SavedPolicy,
    errors: ['PolicyInvalid'],
  },
  saveAgentPolicy: {
    method: 'PUT',
    path: '/api/policies/agents/:name',
    summary: 'Replace the policy of one agent',
    permission: 'policies.manage',
    body: SavePolicy,
    answer: SavedPolicy,
    errors: ['PolicyInvalid', 'AgentNotFound'],
  },
})
