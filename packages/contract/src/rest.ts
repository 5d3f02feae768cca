import { z } from 'zod'
import { Agent } from './agent.ts'
import { Approval } from './approval.ts'
import { UserToken } from './people.ts'
import { PolicyProblem, RuleRef } from './policy.ts'

/** What the REST doors answer and take beyond the records themselves. */
export const AgentList = z.object({ agents: z.array(Agent) })
export type AgentList = z.infer<typeof AgentList>

export const ApprovalList = z.object({ approvals: z.array(Approval), total: z.int() })
export type ApprovalList = z.infer<typeof ApprovalList>

export const UserTokenList = z.object({ user_tokens: z.array(UserToken) })
export type UserTokenList = z.infer<typeof UserTokenList>

export const AcknowledgeAudit = z.strictObject({ reason: z.string().min(1).max(2000) })
export type AcknowledgeAudit = z.infer<typeof AcknowledgeAudit>

const policyCounts = {
  rules: z
    .int()
    .nonnegative()
    .describe('Rules of the files that are valid, without those that ship.'),
  tests_passed: z.int().nonnegative().describe('Tests in these files that passed.'),
}

/** The policy files as they stand on disk; with an error among the problems an older version is in force. */
export const PolicyView = z.object({
  version: z.string(),
  files: z.array(
    z.object({
      layer: z.string(),
      file: z.string(),
      agent: z.string().nullable(),
      text: z.string(),
    }),
  ),
  problems: z.array(PolicyProblem),
  ...policyCounts,
})
export type PolicyView = z.infer<typeof PolicyView>

/** A policy file is at most 1 MiB of text. */
const policyText = z.string().max(1_048_576)

export const SavePolicy = z.strictObject({ text: policyText })
export type SavePolicy = z.infer<typeof SavePolicy>

export const SavedPolicy = z.object({
  version: z.string(),
  problems: z.array(PolicyProblem),
  previous: z
    .string()
    .nullable()
    .describe(
      'File with the replaced text, below the folder of the policies; null if there is none.',
    ),
})
export type SavedPolicy = z.infer<typeof SavedPolicy>

/** With `agent` the text is checked as the file of that agent, otherwise as the organisation's. */
export const ValidatePolicy = z.strictObject({
  text: policyText,
  file: z.string().min(1).max(4096).optional(),
  agent: z.string().min(1).max(63).optional(),
})
export type ValidatePolicy = z.infer<typeof ValidatePolicy>

export const PolicyVerdict = z.object({
  valid: z.boolean(),
  problems: z.array(PolicyProblem),
  ...policyCounts,
})
export type PolicyVerdict = z.infer<typeof PolicyVerdict>

/** What would be decided on a call, without making it. `at` is a time, now by default. */
export const TryPolicy = z.strictObject({
  agent: z.string().min(1).max(63),
  capability: z.string().min(1).max(128),
  arguments: z.record(z.string(), z.unknown()).default({}),
  at: z.string().max(64).optional(),
})
export type TryPolicy = z.infer<typeof TryPolicy>

export const PolicyTrial = z.object({
  decision: z.object({
    kind: z.enum(['allow', 'ask', 'deny']),
    rule: RuleRef.nullable(),
    reason: z.string().nullable(),
    notify: z.boolean(),
    /** What a program that the call starts may reach. */
    network: z.array(z.string()).optional(),
  }),
  steps: z.array(z.object({ rule: RuleRef, outcome: z.string(), detail: z.string().optional() })),
})
export type PolicyTrial = z.infer<typeof PolicyTrial>
